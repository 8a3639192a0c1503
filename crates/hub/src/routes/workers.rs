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
use serde_json::Value;
use server::{
    Refusal, Result,
    extract::{Path, Query},
    observed,
};
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{Problems, runtimes::find};
use crate::{
    app::App,
    caller::Caller,
    policy::{Sight, Verdict, What},
};

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(watch))
}

/// List the workers of a runtime: its sessions.
#[utoipa::path(
    get, path = "/api/runtimes/{runtime_id}/workers", tag = "workers",
    params(("runtime_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The runtime")),
    responses((status = OK, body = SessionList), Problems)
)]
async fn list(State(app): State<App>, caller: Caller, Path(id): Path<RuntimeId>) -> Result<Json<Value>> {
    let answer = find(&app, &id)?.client.sessions().list().await.and_then(|answer| answer.read());
    // What went wrong may tell where the runtime is.
    let silent =
        || Refusal::new(Kind::RuntimeUnavailable, format!("the runtime `{id}` does not say what it has"));
    let list = answer.map_err(|_| silent())?;
    let list = serde_json::to_value(list).map_err(|_| silent())?;
    Ok(Json(match app.policies.now().sight(&caller, &id) {
        Sight::Whole => list,
        Sight::Through(lens) => lens.value(list),
    }))
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
    caller: Caller,
    Path((runtime, worker)): Path<(RuntimeId, SessionId)>,
    Query(query): Query<WatchQuery>,
    upgrade: std::result::Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response> {
    let registered = find(&app, &runtime)?;
    let what = What::Watch { runtime: &runtime, worker: &worker };
    if let Verdict::Denied(reason) = app.policies.now().may(&caller, &what) {
        return Err(Refusal::new(Kind::Forbidden, reason));
    }
    let watch = app.feeds.watch((&runtime, registered.runtime), &worker, query.cursor);
    let watch = watch.map_err(|error| Refusal::new(Kind::TooManyConnections, error.to_string()))?;
    let mut watch = watch.seen_by(caller, &app.policies);
    if !watch.is_there().await {
        return Err(Refusal::new(Kind::SessionNotFound, format!("`{runtime}` has no worker `{worker}`")));
    }
    let patience = app.patience;
    let serve = move |socket| observed::serve(socket, watch, patience);
    app.sockets.open(upgrade, observed::INPUT_BYTES_MAX, serve)
}
