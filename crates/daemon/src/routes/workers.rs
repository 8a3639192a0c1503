//! `/v1/workers`: sessions as a backend watches them. Nothing can be said here; commands have their own routes.

use axum::{extract::State, response::Response};
use protocol::SessionId;
use server::{
    Upgrade,
    extract::{Path, Query},
    observed::WatchQuery,
};
use utoipa_axum::{router::OpenApiRouter, routes};
use worker_runtime::ws::{self, Patience};

use super::Problems;
use crate::{app::App, problem::Result};

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(watch))
}

/// Watch a worker, over a WebSocket: a backend's way to follow a session.
///
/// Text frames are JSON, a `Frame` each. The first is the snapshot, whose envelope names the cursor that it covers. With
/// a cursor, what came after that follows; what the snapshot covers of it is marked `replay`. Then everything that
/// happens. A peer that says anything is told `observation_only`, and the stream ends.
#[utoipa::path(
    get, path = "/v1/workers/{worker_id}/events/ws", tag = "workers",
    params(("worker_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"), WatchQuery),
    responses((status = SWITCHING_PROTOCOLS, description = "The WebSocket is open"), Problems)
)]
async fn watch(
    State(app): State<App>,
    Path(id): Path<SessionId>,
    Query(query): Query<WatchQuery>,
    upgrade: server::Result<Upgrade>,
) -> Result<Response> {
    let observation = app.sessions.observe(&id, query.cursor.as_deref()).await?;
    let serve = move |socket| ws::serve(socket, observation, Patience::default());
    Ok(app.sockets.open(upgrade, ws::INPUT_BYTES_MAX, serve)?)
}
