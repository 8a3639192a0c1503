//! The API: its routes and its description, from one list.

use axum::{Router, middleware};
use protocol::{inbox::InboxEvent, lending::EnvironmentSpec, observation::ObservationFrame};
use serde_json::Value;
use server::{
    RouteTemplates,
    api::{BearerToken, with_fallbacks},
};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::{app::App, guard::guard, routes, verb};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Tombolo hub",
        description = "The hub knows many daemons. Users watch and drive sessions through it without holding any daemon's address or token. Every route of a daemon, except the one for watching workers, is available below `/api/runtimes/{runtime_id}`."
    ),
    components(schemas(ObservationFrame, InboxEvent, EnvironmentSpec)),
    modifiers(&BearerToken),
    security(("token" = [])),
)]
struct Description;

fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Description::openapi())
        .merge(routes::info::router())
        .merge(routes::runtimes::router())
        .merge(routes::waits::router())
        .merge(routes::join::router())
        .merge(routes::workers::router())
        .merge(routes::users::router())
        .merge(routes::tokens::router())
        .merge(routes::login::router())
        .merge(routes::audit::router())
        .merge(routes::devices::router())
        .merge(routes::pairings::router())
        .merge(routes::grants::router())
        .merge(routes::relay::connect::router())
        .merge(routes::relay::environments::router())
        .merge(routes::relay::requests::router())
        .merge(routes::relay::mcp::router())
        .merge(routes::relay::approvals::router())
        .merge(routes::relay::audit::router())
        .merge(routes::relay::status::router())
}

/// What answers requests, and the routes that it has.
pub(crate) fn router(app: App) -> (Router, RouteTemplates) {
    let (router, openapi) = routes().split_for_parts();
    let templates = RouteTemplates::new(openapi.paths.paths.into_keys().chain([verb::FORWARD.into()]));
    let router = with_fallbacks(router.merge(routes::forward::router()));
    let router = router.layer(middleware::from_fn_with_state(app.clone(), guard));
    (router.with_state(app), templates)
}

/// The description of the API.
pub fn document() -> Value {
    server::api::document(routes().into_openapi(), "hub_")
}
