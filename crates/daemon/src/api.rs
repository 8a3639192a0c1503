//! The routes of the daemon and their OpenAPI document, from one list.

use std::{io::Read, sync::OnceLock};

use axum::Router;
use bytes::Bytes;
use flate2::read::GzDecoder;
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
    routes::search::collect_routes(collector);
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
pub(crate) fn openapi() -> Bytes {
    static COMPRESSED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/openapi.json.gz"));
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    let decompress = || {
        let mut document = Vec::new();
        // Cannot fail: the build script compressed the document, and memory does not fail to be read.
        let _ = GzDecoder::new(COMPRESSED).read_to_end(&mut document);
        document.into()
    };
    DOCUMENT.get_or_init(decompress).clone()
}

/// Generates the OpenAPI document, which `cargo xtask codegen` stores in `docs/openapi.json`.
pub fn generate_openapi() -> Value {
    let mut documented = DocumentedRoutes::new(DaemonApi::openapi());
    collect_routes(&mut documented);
    server::api::document(documented.into_openapi(), "")
}
