//! `/api/runtimes/{runtime_id}/workers`: the sessions of a runtime, as people watch them. Nothing can be said here.

use axum::{
    Json,
    extract::{
        State,
        ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection},
    },
    response::Response,
};
use protocol::{Kind, RuntimeId, SessionId, sessions::SessionList};
use serde::Deserialize;
use server::{
    Refusal, Result,
    extract::{Path, Query},
    observed::{self, Patience},
};
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{Problems, runtimes::find};
use crate::app::App;

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(watch))
}

/// List the workers of a runtime: its sessions.
#[utoipa::path(
    get, path = "/api/runtimes/{runtime_id}/workers", tag = "workers",
    params(("runtime_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The runtime")),
    responses((status = OK, body = SessionList), Problems)
)]
async fn list(State(app): State<App>, Path(id): Path<RuntimeId>) -> Result<Json<SessionList>> {
    let registered = find(&app, &id)?;
    let answer = registered.client.sessions().list().await.and_then(|answer| answer.read());
    registered.reach.note(answer.is_ok());
    // What went wrong may tell where the runtime is.
    answer.map(Json).map_err(|_| {
        Refusal::new(Kind::RuntimeUnavailable, format!("the runtime `{id}` does not say what it has"))
    })
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct WatchQuery {
    /// The cursor of the last event that was received; only what happens from now on if left out.
    cursor: Option<String>,
}

/// Watch a worker, over a WebSocket.
///
/// Text frames are JSON, a `Frame` each. The first is the snapshot, whose envelope names the cursor that it covers. With
/// a cursor, what came after that follows; what the snapshot covers of it is marked `replay`. Then everything that
/// happens. When the runtime goes away, that is told, and the stream goes on when it is back. A peer that says anything is
/// told `observation_only`, and the stream ends.
#[utoipa::path(
    get, path = "/api/runtimes/{runtime_id}/workers/{worker_id}/events/ws", tag = "workers",
    params(
        ("runtime_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The runtime"),
        ("worker_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"),
        WatchQuery
    ),
    responses((status = SWITCHING_PROTOCOLS, description = "The WebSocket is open"), Problems)
)]
async fn watch(
    State(app): State<App>,
    Path((runtime, worker)): Path<(RuntimeId, SessionId)>,
    Query(query): Query<WatchQuery>,
    upgrade: std::result::Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response> {
    let registered = find(&app, &runtime)?;
    let watch = app.feeds.watch((&runtime, registered.runtime), &worker, query.cursor);
    let mut watch = watch.map_err(|error| Refusal::new(Kind::TooManyConnections, error.to_string()))?;
    if !watch.is_there().await {
        return Err(Refusal::new(Kind::SessionNotFound, format!("`{runtime}` has no worker `{worker}`")));
    }
    let serve = move |socket| observed::serve(socket, watch, Patience::default());
    app.sockets.open(upgrade, observed::INPUT_BYTES_MAX, serve)
}
