//! `/api/runtimes/{runtime_id}/workers`: the sessions of a runtime, as people watch them. Nothing can be said here.

use axum::{Json, extract::State, response::Response};
use hub_access::{Permit, Principal};
use protocol::{
    ProblemKind, RuntimeId, SessionId,
    observation::{DiagnosticKind, StreamEnd, StreamLeg},
    presence::WorkerPresence,
    sessions::SessionList,
};
use server::{
    ProblemResponse, Result, RouteCollector, WebSocketUpgrade,
    extract::{Path, Query},
    observation::{self, WatchQuery},
    routes,
};

use super::{Problems, forward::partial::unshown, runtimes::find};
use crate::{app::App, runtime::ask, viewer::Viewer};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(list)).add(routes!(watch)).add(routes!(presence));
}

/// List the workers of a runtime, one for each session.
#[utoipa::path(
    get, path = "/api/runtimes/{runtime_id}/workers", tag = "workers",
    params(("runtime_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The runtime")),
    responses((status = OK, body = SessionList), Problems)
)]
async fn list(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<RuntimeId>,
) -> Result<Json<SessionList>> {
    let registered = find(&app, &id)?;
    let answer = ask::<SessionList>(&*registered.runtime, "/v1/sessions").await;
    let silent = || {
        ProblemResponse::new(
            ProblemKind::RuntimeUnavailable,
            format!("runtime `{id}` did not list its workers"),
        )
    };
    let sight = caller.rights.visibility(&*app.access.policy.now(), &registered.workspace, &id);
    sight.show(answer.map_err(|_| silent())?).map(Json).ok_or_else(unshown)
}

/// Watch a worker, over a WebSocket.
///
/// Each text message is one JSON `ObservationFrame`. The first is a snapshot whose envelope names the cursor it covers. With a `cursor`,
/// the events after it follow; those already covered by the snapshot are marked `replay`. Live events come after that. If the
/// runtime disconnects, the viewer gets a diagnostic and the stream continues when the runtime is back. The control frame
/// `presence` reports who is watching. A client that sends a message gets `observation_only` and is disconnected. A caller
/// that loses its role or token gets `denied` and is disconnected.
#[utoipa::path(
    get, path = "/api/runtimes/{runtime_id}/workers/{worker_id}/events/ws", tag = "workers",
    params(
        ("runtime_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The runtime"),
        ("worker_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"),
        WatchQuery
    ),
    responses((status = SWITCHING_PROTOCOLS, description = "Switches to a WebSocket"), Problems)
)]
async fn watch(
    State(app): State<App>,
    Path((runtime, worker)): Path<(RuntimeId, SessionId)>,
    Query(query): Query<WatchQuery>,
    caller: Principal,
    permit: Permit,
    upgrade: Result<WebSocketUpgrade>,
) -> Result<Response> {
    let registered = find(&app, &runtime)?;
    let watch = app.feeds.watch((&runtime, registered.runtime), &worker, query.cursor);
    let watch =
        watch.map_err(|error| ProblemResponse::new(ProblemKind::TooManyConnections, error.to_string()))?;
    let mut watch = watch.seen_with(permit.access());
    if !watch.is_there().await {
        return Err(ProblemResponse::new(
            ProblemKind::SessionNotFound,
            format!("runtime `{runtime}` has no worker `{worker}`"),
        ));
    }
    let revoked = async move {
        permit.ended().await;
        StreamEnd::new(StreamLeg::Backend, DiagnosticKind::Denied, "your access to this worker was revoked")
    };
    let (presences, user, keep_alive) = (app.presences.clone(), caller.user, app.keep_alive);
    let serve = move |socket| async move {
        let viewer = Viewer::new(watch, presences.watch(&runtime, &worker, &user));
        observation::serve_until(socket, viewer, keep_alive, revoked).await;
    };
    app.sockets.open(upgrade, observation::INPUT_BYTES_MAX, serve)
}

/// List who is present at a worker: its viewers, and users who recently sent, answered or cancelled something.
#[utoipa::path(
    get, path = "/api/runtimes/{runtime_id}/workers/{worker_id}/presence", tag = "workers",
    params(
        ("runtime_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The runtime"),
        ("worker_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"),
    ),
    responses((status = OK, body = WorkerPresence), Problems)
)]
async fn presence(
    State(app): State<App>,
    Path((runtime, worker)): Path<(RuntimeId, SessionId)>,
) -> Result<Json<WorkerPresence>> {
    find(&app, &runtime)?;
    Ok(Json(app.presences.get(&runtime, &worker)))
}
