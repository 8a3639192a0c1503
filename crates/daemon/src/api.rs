//! The API: its routes and its description, from one list.

use axum::Router;
use protocol::{
    agents::InstallProgress,
    observation::ObservationFrame,
    processes::{TerminalCommand, TerminalEvent},
    wait::WaitEvent,
};
use serde_json::Value;
use server::{
    Templates,
    api::{BearerToken, with_fallbacks},
};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::{app::App, routes};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Tombolo daemon",
        description = "Runs coding agents in a sandbox: any ACP agent over HTTP, sessions in one vocabulary, with files, config and processes."
    ),
    components(schemas(ObservationFrame, InstallProgress, TerminalCommand, TerminalEvent, WaitEvent)),
    modifiers(&BearerToken),
    security(("token" = [])),
)]
struct Description;

fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Description::openapi())
        .merge(routes::info::router())
        .merge(routes::acp::router())
        .merge(routes::agents::router())
        .merge(routes::fs::router())
        .merge(routes::config::router())
        .merge(routes::processes::router())
        .merge(routes::sessions::router())
        .merge(routes::waits::router())
        .merge(routes::workers::router())
}

/// What answers requests, and the routes that it has.
pub(crate) fn router(app: App) -> (Router, Templates) {
    let (router, openapi) = routes().split_for_parts();
    (with_fallbacks(router).with_state(app), Templates::new(openapi.paths.paths.into_keys()))
}

/// The description of the API.
pub fn document() -> Value {
    server::api::document(routes().into_openapi(), "")
}
