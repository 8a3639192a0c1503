//! The routes of the hub and their OpenAPI document, from one list.

use hub_access::{FORWARDED_ROUTE, guard};
use std::sync::Arc;

use axum::{Router, middleware};
use embedded_document::EmbeddedDocument;
use protocol::{inbox::InboxEvent, lending::EnvironmentSpec, observation::ObservationFrame};
use serde_json::Value;
use server::{
    DocumentedRoutes, RouteCollector, RouteTemplates, ServedRoutes,
    api::{BearerToken, with_fallbacks},
};
use utoipa::OpenApi;

use crate::{app::App, routes};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Tombolo hub",
        description = "The hub knows many daemons. Users watch and drive sessions through it without holding any daemon's address or token. Every route of a daemon, except the one for watching workers, is available below `/api/runtimes/{runtime_id}`."
    ),
    servers((url = "http://127.0.0.1:2470", description = "A hub on this machine, on its default port")),
    tags(
        (name = "info", description = "Describes the hub: its health, its metrics and this document."),
        (name = "runtimes", description = "Registers daemons as runtimes and shows which are up."),
        (name = "waits", description = "Lists and answers the open questions and permissions of all runtimes."),
        (name = "workers", description = "Lists the sessions of runtimes and lets viewers follow them."),
        (name = "users", description = "Manages users and their roles."),
        (name = "tokens", description = "Creates, lists and revokes tokens."),
        (name = "login", description = "Signs browsers in and out, and shows who the caller is."),
        (name = "audit", description = "Shows changes and refused requests."),
        (name = "devices", description = "Manages the devices that users lend."),
        (name = "pairings", description = "Adds a device by a code that it shows."),
        (name = "grants", description = "Allows runtimes to use devices."),
        (name = "environments", description = "Gives sessions access to devices."),
        (name = "mcp", description = "Serves the tools of a device to MCP clients, by the Streamable HTTP transport."),
        (name = "relay", description = "Connects devices, and shows what is asked of them."),
    ),
    components(schemas(ObservationFrame, InboxEvent, EnvironmentSpec)),
    modifiers(&BearerToken),
    security(("token" = [])),
)]
struct Description;

/// For clients that took the hub for a daemon.
const TAKEN_FOR_DAEMON: (&str, &str) = (
    "/v1/",
    "this is a hub; a daemon behind it is at `/api/runtimes/NAME`, and `tombolo hub runtimes list` prints the names",
);

fn collect_routes(collector: &mut impl RouteCollector<App>) {
    routes::info::collect_routes(collector);
    routes::runtimes::collect_routes(collector);
    routes::waits::collect_routes(collector);
    routes::join::collect_routes(collector);
    routes::workers::collect_routes(collector);
    routes::worker_details::collect_routes(collector);
    routes::users::collect_routes(collector);
    routes::tokens::collect_routes(collector);
    routes::login::collect_routes(collector);
    routes::audit::collect_routes(collector);
    routes::devices::collect_routes(collector);
    routes::pairings::collect_routes(collector);
    routes::grants::collect_routes(collector);
    routes::relay::connect::collect_routes(collector);
    routes::relay::environments::collect_routes(collector);
    routes::relay::requests::collect_routes(collector);
    routes::relay::mcp::collect_routes(collector);
    routes::relay::approvals::collect_routes(collector);
    routes::relay::audit::collect_routes(collector);
    routes::relay::status::collect_routes(collector);
}

/// The router, and its route templates.
pub(crate) fn router(app: App) -> (Router, RouteTemplates) {
    let mut served = ServedRoutes::default();
    collect_routes(&mut served);
    let (router, templates) = served.split(&[FORWARDED_ROUTE]);
    let router = with_fallbacks(router.merge(routes::forward::router()), TAKEN_FOR_DAEMON);
    let router = router.layer(middleware::from_fn_with_state(Arc::clone(&app.access), guard));
    (router.with_state(app), templates)
}

/// The OpenAPI document, as the hub serves it.
///
/// `cargo xtask ci` checks that it is what [`generate_openapi`] returns.
pub(crate) static OPENAPI: EmbeddedDocument =
    EmbeddedDocument::new(include_bytes!(concat!(env!("OUT_DIR"), "/openapi.json.gz")));

/// Generates the OpenAPI document, which `cargo xtask codegen` stores in `docs/openapi-hub.json`.
pub fn generate_openapi() -> Value {
    let mut documented = DocumentedRoutes::new(Description::openapi());
    collect_routes(&mut documented);
    server::api::document(documented.into_openapi(), "hub_")
}
