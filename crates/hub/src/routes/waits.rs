//! `/api/waits`: what waits for a person in all runtimes.

use axum::{Json, extract::State, response::Response};
use protocol::{
    Author, Kind, RuntimeId, WaitId,
    inbox::Inbox,
    wait::{Wait, WaitReply},
};
use server::{Refusal, Result, extract, extract::Path, sse};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{Problems, forward::partial::unshown, runtimes::find};
use crate::{app::App, caller::Caller, relay::Unanswered, runtime::tell, standing::Standing};

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(events)).routes(routes!(answer))
}

/// List what waits for a person, in all runtimes that the caller sees, the oldest first. Runtimes that do not answer in time are named.
#[utoipa::path(get, path = "/api/waits", tag = "waits", responses((status = OK, body = Inbox), Problems))]
async fn list(State(app): State<App>, caller: Caller) -> Json<Inbox> {
    Json(app.inbox.list(&caller.rights).await)
}

/// Follow what waits for a person, in all runtimes that the caller sees, as server-sent events.
///
/// The first is the snapshot: all that are open. Then whatever is opened or settled, by whom and how, and which runtimes go
/// away and come back. Who does not read fast enough, or comes to see other runtimes, gets another snapshot.
#[utoipa::path(
    get, path = "/api/waits/events", tag = "waits",
    responses(
        (status = OK, description = "Events whose data is an `InboxEvent`", body = serde_json::Value, content_type = "text/event-stream"),
        Problems,
    )
)]
async fn events(State(app): State<App>, caller: Caller) -> Response {
    let standing = Standing::new(&app.people, caller.token);
    sse::response(app.inbox.listen(standing).await.into_events())
}

/// Answer whatever is asked: a permission, a question, a plan. The first answer holds, and carries the name of who gave it.
#[utoipa::path(
    post, path = "/api/waits/{runtime_id}/{wait_id}", tag = "waits", request_body = WaitReply,
    params(
        ("runtime_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The runtime"),
        ("wait_id" = String, Path, pattern = "^wat_[0-9a-f]{32}$", description = "The question or permission"),
    ),
    responses((status = OK, description = "The agent is told; this is how it was settled", body = Wait), Problems)
)]
async fn answer(
    State(app): State<App>,
    caller: Caller,
    Path((runtime, wait)): Path<(RuntimeId, WaitId)>,
    extract::Json(mut reply): extract::Json<WaitReply>,
) -> Result<Json<Wait>> {
    let registered = find(&app, &runtime)?;
    let sight = caller.rights.sight(&*app.policies.now(), &registered.workspace, &runtime);
    match app.relay.approvals.answer(&runtime, wait, &reply, &caller.user).await {
        Ok(settled) => {
            app.presences.drove(&runtime, &settled.session_id, &caller.user);
            return sight.wait(settled).map(Json).ok_or_else(unshown);
        }
        Err(Unanswered::Settled(settled)) => return Err(too_late(&settled)),
        Err(Unanswered::Invalid) => {
            return Err(Refusal::new(Kind::InvalidAnswer, "this is a permission: it is answered by one"));
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
fn too_late(wait: &Wait) -> Refusal {
    let by = wait.settled.as_ref().and_then(|settled| settled.author.as_ref());
    let detail = match by {
        Some(by) => format!("`{by}` has answered it already"),
        None => "nobody waits for the answer any more".into(),
    };
    Refusal::new(Kind::WaitSettled, detail)
}
