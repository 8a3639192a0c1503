//! `GET /api/runtimes/{runtime_id}/workers/{worker_id}`: a worker, and what the caller may do with it.

use axum::{Json, extract::State};
use hub_access::{Permit, Principal, WorkerRequest, worker_requests};
use protocol::{
    RuntimeId, SessionId,
    sessions::Session,
    worker_actions::{WorkerAction, WorkerDetails},
};
use server::{Result, RouteCollector, extract::Path, routes};

use super::{
    Problems,
    forward::partial::{self, unshown},
    runtimes::find,
};
use crate::{app::App, policy::Visibility, runtime::read};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(get));
}

/// Read a worker, and what the caller may do with it.
///
/// The actions follow the role of the caller, the scope of the token and the policy of the hub, as they are now. A user interface
/// offers those that are allowed; the hub decides each request again.
#[utoipa::path(
    get, path = "/api/runtimes/{runtime_id}/workers/{worker_id}", tag = "workers",
    params(
        ("runtime_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The runtime"),
        ("worker_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"),
    ),
    responses((status = OK, body = WorkerDetails), Problems)
)]
async fn get(
    State(app): State<App>,
    caller: Principal,
    permit: Permit,
    Path((runtime, worker)): Path<(RuntimeId, SessionId)>,
) -> Result<Json<WorkerDetails>> {
    let registered = find(&app, &runtime)?;
    let session: Session = read((&runtime, &*registered.runtime), &format!("/v1/sessions/{worker}")).await?;
    let visibility = caller.rights.visibility(&*app.access.policy.now(), &registered.workspace, &runtime);
    let session = visibility.show(session).ok_or_else(unshown)?;
    let requests = worker_requests(&permit).into_iter();
    let actions = requests.map(|request| visible_action(request, &visibility)).collect();
    Ok(Json(WorkerDetails { session, actions }))
}

/// A response that cannot be redacted is refused, so the request is not allowed.
fn visible_action(request: WorkerRequest, visibility: &Visibility) -> WorkerAction {
    let WorkerRequest { mut action, method, forwarded } = request;
    let is_refused =
        forwarded.is_some_and(|path| visibility.hides_content() && !partial::can_be_redacted(&method, &path));
    if action.allowed && is_refused {
        action.allowed = false;
        action.reason = Some(partial::REFUSED.to_owned());
    }
    action
}
