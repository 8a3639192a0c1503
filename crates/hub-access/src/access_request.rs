//! A request as the guard understands it.

use axum::{
    RequestExt,
    extract::{MatchedPath, RawPathParams, Request},
};
use protocol::{RuntimeId, SessionId};

use crate::route_table::{self, FORWARDED_ROUTE, RouteAction};

/// The action that a request asks for, and the resource that it is about.
#[derive(Clone)]
pub struct AccessRequest {
    /// The action.
    pub action: &'static RouteAction,
    /// The runtime in the path, if there is one.
    pub runtime: Option<RuntimeId>,
    /// The worker in the path, if there is one.
    pub worker: Option<SessionId>,
    /// The path segments after `/v1` of a request that is forwarded. The path is decoded once, here: the handler forwards
    /// exactly the segments that were authorized.
    pub segments: Vec<String>,
}

impl AccessRequest {
    /// Looks the route up that the router has matched.
    pub(crate) async fn from_request(request: &mut Request) -> Self {
        let route = request.extensions().get::<MatchedPath>().cloned();
        let route = route.as_ref().map(MatchedPath::as_str);
        let params = request.extract_parts::<RawPathParams>().await.ok();
        let param = |name: &str| {
            let mut params = params.iter().flatten();
            params.find(|(known, _)| *known == name).map(|(_, value)| value)
        };
        let runtime = param("runtime_id").and_then(|id| id.parse().ok());
        if route != Some(FORWARDED_ROUTE) {
            let worker = param("worker_id").and_then(|id| id.parse().ok());
            let action = route_table::hub_action(request.method(), route);
            return Self { action, runtime, worker, segments: Vec::new() };
        }
        let segments: Vec<&str> = param("path").unwrap_or_default().split('/').collect();
        let worker = match segments[..] {
            ["sessions" | "workers", id, ..] => id.parse().ok(),
            _ => None,
        };
        let action = route_table::daemon_action(request.method(), &segments);
        Self { action, runtime, worker, segments: segments.into_iter().map(str::to_owned).collect() }
    }
}
