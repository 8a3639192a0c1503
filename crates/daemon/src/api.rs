//! The routes of the daemon and their OpenAPI document, from one list.

use axum::Router;
use embedded_document::EmbeddedDocument;
use protocol::{
    agents::InstallProgress,
    observation::ObservationFrame,
    processes::{TerminalCommand, TerminalEvent},
    wait::WaitEvent,
};
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
        title = "Tombolo daemon",
        description = "Runs coding agents in a sandbox: any ACP agent over HTTP, sessions in one vocabulary, with files, config and processes."
    ),
    servers((url = "http://127.0.0.1:2468", description = "A daemon on this machine, on its default port")),
    tags(
        (name = "info", description = "Describes the daemon: its health, its metrics and this document."),
        (name = "acp", description = "Runs any ACP agent and passes its messages over HTTP, unchanged."),
        (name = "agents", description = "Lists the agents that the daemon knows, with their modes and models, and installs them."),
        (name = "fs", description = "Reads and changes files in the sandbox."),
        (name = "config", description = "Stores the MCP servers and skills that sessions in a directory get."),
        (name = "processes", description = "Runs other programs than agents in the sandbox, with logs, input and terminals."),
        (name = "sessions", description = "Runs agents in one vocabulary: messages, events, questions and permissions are the same for all agents."),
        (name = "waits", description = "Lists and answers the open questions and permissions of all sessions."),
        (name = "workers", description = "Lets a hub follow sessions over WebSockets."),
    ),
    components(schemas(ObservationFrame, InstallProgress, TerminalCommand, TerminalEvent, WaitEvent)),
    modifiers(&BearerToken),
    security(("token" = [])),
)]
struct DaemonApi;

fn collect_routes(collector: &mut impl RouteCollector<App>) {
    routes::info::collect_routes(collector);
    routes::acp::collect_routes(collector);
    routes::agents::collect_routes(collector);
    routes::fs::collect_routes(collector);
    routes::config::collect_routes(collector);
    routes::processes::collect_routes(collector);
    routes::sessions::collect_routes(collector);
    routes::waits::collect_routes(collector);
    routes::workers::collect_routes(collector);
}

/// For clients that took the daemon for a hub.
const TAKEN_FOR_HUB: (&str, &str) =
    ("/api/", "this is a daemon, not a hub; pass the URL of the hub, or use the commands of `tombolo api`");

/// The router, and its route templates.
pub(crate) fn router(app: App) -> (Router, RouteTemplates) {
    let mut served = ServedRoutes::default();
    collect_routes(&mut served);
    let (router, templates) = served.split(&[]);
    (with_fallbacks(router, TAKEN_FOR_HUB).with_state(app), templates)
}

/// The OpenAPI document, as the daemon serves it.
///
/// `cargo xtask ci` checks that it is what [`generate_openapi`] returns.
pub(crate) static OPENAPI: EmbeddedDocument =
    EmbeddedDocument::new(include_bytes!(concat!(env!("OUT_DIR"), "/openapi.json.gz")));

/// Generates the OpenAPI document, which `cargo xtask codegen` stores in `docs/openapi.json`.
pub fn generate_openapi() -> Value {
    let mut documented = DocumentedRoutes::new(DaemonApi::openapi());
    collect_routes(&mut documented);
    server::api::document(documented.into_openapi(), "")
}
