//! The requests about a worker that a caller may send, by the route table and the policy.

use http::Method;
use protocol::{RuntimeId, SessionId, worker_actions::WorkerAction};

use crate::{
    permit::Permit,
    route_rule::{Requirement, RouteRule},
    route_table::{FORWARDED_ROUTE, ROUTES},
};

/// How the paths of the hub's own routes about a worker begin.
const HUB_ROUTES: &str = "/api/runtimes/{runtime_id}/workers/{worker_id}";

/// How the paths of a daemon's routes about a worker begin, and its name there.
const DAEMON_ROUTES: &str = "/v1/sessions/{id}";

/// A request about a worker, as the guard would decide it.
pub struct WorkerRequest {
    /// The decision.
    pub action: WorkerAction,
    /// The method.
    pub method: Method,
    /// The path segments after `/v1` of a request that the hub forwards; parameters other than the worker are left as
    /// `{name}`.
    pub forwarded: Option<Vec<String>>,
}

/// Every request about the worker of a permit. The guard decides by the same rows, roles and policy.
pub fn worker_requests(permit: &Permit) -> Vec<WorkerRequest> {
    let Some((runtime, worker)) = permit.worker() else { return Vec::new() };
    let about_worker =
        ROUTES.iter().filter(|rule| is_below(rule, HUB_ROUTES) || is_below(rule, DAEMON_ROUTES));
    about_worker.filter_map(|rule| request(rule, permit, (runtime, worker))).collect()
}

fn is_below(rule: &RouteRule, start: &str) -> bool {
    rule.path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn request(
    rule: &RouteRule,
    permit: &Permit,
    (runtime, worker): (&RuntimeId, &SessionId),
) -> Option<WorkerRequest> {
    // The table's tests ensure that routes of a runtime have no other requirement.
    let Requirement::Role(role) = rule.requirement else { return None };
    let decision = permit.for_action(rule.action, role).check();
    let path = match rule.path.strip_prefix("/v1/") {
        Some(rest) => FORWARDED_ROUTE.replace("{*path}", rest).replace("{id}", worker.as_str()),
        None => rule.path.replace("{worker_id}", worker.as_str()),
    };
    let forwarded = rule
        .path
        .strip_prefix("/v1/")
        .map(|rest| rest.replace("{id}", worker.as_str()).split('/').map(str::to_owned).collect());
    Some(WorkerRequest {
        action: WorkerAction {
            action: rule.action.name().to_owned(),
            method: rule.method.to_owned(),
            path: path.replace("{runtime_id}", runtime.as_str()),
            allowed: decision.is_ok(),
            reason: decision.err(),
        },
        method: rule.method.parse().ok()?,
        forwarded,
    })
}
