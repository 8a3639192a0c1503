//! `/v1/workers`: sessions as a hub observes them. Read-only: commands have their own routes.

use axum::{extract::State, response::Response};
use protocol::SessionId;
use server::{
    RouteCollector, WebSocketUpgrade,
    extract::{Path, Query},
    observation::WatchQuery,
    routes,
};
use websocket::KeepAlive;
use worker_runtime::ws;

use super::Problems;
use crate::{api_error::Result, app::App};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(watch));
}

/// Observe a session over a WebSocket, as a hub does.
///
/// Each text frame is an `ObservationFrame` as JSON. The first is the snapshot, whose envelope names the cursor that it covers. With a
/// cursor in the query, the events after it follow; the ones that the snapshot covers are marked `replay`. Then come new
/// events. If the client sends anything, it gets the diagnostic `observation_only` and the stream ends.
#[utoipa::path(
    get, path = "/v1/workers/{worker_id}/events/ws", tag = "workers",
    params(("worker_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"), WatchQuery),
    responses((status = SWITCHING_PROTOCOLS, description = "The WebSocket is open"), Problems)
)]
async fn watch(
    State(app): State<App>,
    Path(id): Path<SessionId>,
    Query(query): Query<WatchQuery>,
    upgrade: server::Result<WebSocketUpgrade>,
) -> Result<Response> {
    let observation = app.sessions.observe(&id, query.cursor.as_deref()).await?;
    let serve = move |socket| ws::serve(socket, observation, KeepAlive::default());
    Ok(app.sockets.open(upgrade, ws::INPUT_BYTES_MAX, serve)?)
}
