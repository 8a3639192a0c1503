//! The routes of the daemon and their OpenAPI document, from one list.

use axum::Router;
use protocol::{
    agents::InstallProgress,
    observation::ObservationFrame,
    processes::{TerminalCommand, TerminalEvent},
    wait::WaitEvent,
};
use serde_json::Value;
use server::{
    RouteTemplates,
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
struct DaemonApi;

fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(DaemonApi::openapi())
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

/// The router, and its route templates.
pub(crate) fn router(app: App) -> (Router, RouteTemplates) {
    let (router, openapi) = routes().split_for_parts();
    (with_fallbacks(router).with_state(app), RouteTemplates::new(openapi.paths.paths.into_keys()))
}

/// The OpenAPI document.
pub fn document() -> Value {
    server::api::document(routes().into_openapi(), "")
}
