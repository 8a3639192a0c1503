//! `/api/waits`: what waits for a person in all runtimes.

use axum::{Json, extract::State, response::Response};
use hub_access::{Principal, RightsWatch};
use protocol::{
    Author, ProblemKind, RuntimeId, WaitId,
    inbox::{InboxWait, WaitInbox},
    wait::{AnswerWaitRequest, Wait},
};
use server::{
    ProblemResponse, Result, RouteCollector, extract,
    extract::{AcceptsEventStream, Path},
    routes, sse,
};

use super::{Problems, forward::partial::unshown, runtimes::find};
use crate::{app::App, relay::Unanswered, runtime::tell};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(list)).add(routes!(events)).add(routes!(read)).add(routes!(answer));
}

/// List the open waits of all runtimes that the caller can see, oldest first. Runtimes that do not answer in time are named.
#[utoipa::path(get, path = "/api/waits", tag = "waits", responses((status = OK, body = WaitInbox), Problems))]
async fn list(State(app): State<App>, caller: Principal) -> Json<WaitInbox> {
    Json(app.inbox.list(&caller.rights).await)
}

/// Stream the open waits of all runtimes that the caller can see, as server-sent events.
///
/// The first event is a snapshot of all open waits. Then follow waits that are opened or answered, with author and answer, and
/// runtimes that become unreachable or return. A slow reader, or one whose visible runtimes change, gets a new snapshot.
#[utoipa::path(
    get, path = "/api/waits/events", tag = "waits",
    responses(
        (status = OK, description = "Server-sent events; each `data` is an `InboxEvent`", body = serde_json::Value, content_type = "text/event-stream"),
        Problems,
    )
)]
async fn events(_: AcceptsEventStream, State(app): State<App>, caller: Principal) -> Response {
    let standing = RightsWatch::new(&app.access.users, caller.token);
    sse::response(app.inbox.listen(standing).await.into_events())
}

/// Read one wait of a runtime that the caller can see: an open one, or one that was settled, with its answer and the author of the
/// answer.
#[utoipa::path(
    get, path = "/api/waits/{wait_id}", tag = "waits",
    params(("wait_id" = String, Path, pattern = "^wat_[0-9a-f]{32}$", description = "The id of the question or permission request")),
    responses((status = OK, body = InboxWait), Problems)
)]
async fn read(State(app): State<App>, caller: Principal, Path(id): Path<WaitId>) -> Result<Json<InboxWait>> {
    let settled_here = app.relay.approvals.find_settled(id);
    app.inbox.find(&caller.rights, id, settled_here).await.map(Json).ok_or_else(|| {
        let detail = format!("no runtime that you can see knows a question or permission request {id}");
        ProblemResponse::new(ProblemKind::WaitNotFound, detail)
    })
}

/// Answer a permission request, a question or a plan. The first answer wins and is recorded with the caller's name.
#[utoipa::path(
    post, path = "/api/waits/{runtime_id}/{wait_id}", tag = "waits", request_body = AnswerWaitRequest,
    params(
        ("runtime_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The runtime"),
        ("wait_id" = String, Path, pattern = "^wat_[0-9a-f]{32}$", description = "The id of the question or permission request"),
    ),
    responses((status = OK, description = "The accepted answer, which is delivered to the agent", body = Wait), Problems)
)]
async fn answer(
    State(app): State<App>,
    caller: Principal,
    Path((runtime, wait)): Path<(RuntimeId, WaitId)>,
    extract::Json(mut reply): extract::Json<AnswerWaitRequest>,
) -> Result<Json<Wait>> {
    let registered = find(&app, &runtime)?;
    let sight = caller.rights.visibility(&*app.access.policy.now(), &registered.workspace, &runtime);
    match app.relay.approvals.answer(&runtime, wait, &reply, &caller.user).await {
        Ok(settled) => {
            app.presences.drove(&runtime, &settled.session_id, &caller.user);
            return sight.wait(settled).map(Json).ok_or_else(unshown);
        }
        Err(Unanswered::Settled(settled)) => return Err(too_late(&settled)),
        Err(Unanswered::Invalid) => {
            return Err(ProblemResponse::new(
                ProblemKind::InvalidAnswer,
                "this is a permission request: send a permission reply",
            ));
        }
        Err(Unanswered::NotOurs) => {}
    }
    reply.author = Some(Author::from(&caller.user));
    let path = format!("/v1/waits/{wait}");
    let settled: Wait = tell((&runtime, &*registered.runtime), &path, &reply).await?;
    app.presences.drove(&runtime, &settled.session_id, &caller.user);
    sight.wait(settled).map(Json).ok_or_else(unshown)
}

/// Somebody was faster, or nobody asks any more.
fn too_late(wait: &Wait) -> ProblemResponse {
    let by = wait.settlement.as_ref().and_then(|settled| settled.author.as_ref());
    let detail = match by {
        Some(by) => format!("already answered by `{by}`"),
        None => "the question was withdrawn or has expired".into(),
    };
    ProblemResponse::new(ProblemKind::WaitSettled, detail)
}
