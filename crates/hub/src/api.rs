//! The API: its routes and its description, from one list.

use axum::Router;
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
        title = "Tombolo hub",
        description = "Knows many daemons: their sessions are watched through it, by people who hold neither address nor token of any. Every route of a daemon, but for WebSockets, is at `/api/runtimes/{runtime_id}` followed by its own path."
    ),
    modifiers(&BearerToken),
    security(("token" = [])),
)]
struct Description;

fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Description::openapi())
        .merge(routes::info::router())
        .merge(routes::runtimes::router())
        .merge(routes::workers::router())
}

/// What answers requests, and the routes that it has.
pub(crate) fn router(app: App) -> (Router, Templates) {
    let (router, openapi) = routes().split_for_parts();
    let router = router.merge(routes::forward::router());
    let templates = openapi.paths.paths.into_keys().chain([routes::forward::PATH.into()]);
    (with_fallbacks(router).with_state(app), Templates::new(templates))
}

/// The description of the API.
pub fn document() -> Value {
    server::api::document(routes().split_for_parts().1)
}
