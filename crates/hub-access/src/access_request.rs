//! A request as the guard understands it.

use std::str::FromStr;

use axum::{
    RequestExt,
    extract::{MatchedPath, RawPathParams, Request},
};
use protocol::{ProblemKind, RuntimeId, SessionId, TokenId, WorkspaceName};
use server::{ProblemResponse, Result};

use crate::{
    route_index,
    route_rule::{ResourceSource, RouteRule},
    route_table::FORWARDED_ROUTE,
    workspace_resource::WorkspaceResource,
};

/// The rule for a request, and the resource that the request is about.
#[derive(Clone)]
pub struct AccessRequest {
    /// The row of the route table.
    pub rule: &'static RouteRule,
    /// The runtime in the path, if there is one.
    pub runtime: Option<RuntimeId>,
    /// The worker in the path, if there is one.
    pub worker: Option<SessionId>,
    /// The path segments after `/v1` of a request that is forwarded. The path is decoded once, here: the handler forwards
    /// exactly the segments that were authorized.
    pub segments: Vec<String>,
    pub(crate) target: RequestTarget,
}

/// The part of a path that decides which workspace or user a request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestTarget {
    /// The rule needs none, or the handler finds it in the body or the query.
    None,
    Resource(WorkspaceResource),
    Workspace(WorkspaceName),
    Token(TokenId),
    /// The path has something else in its place: the name of the parameter.
    Invalid(&'static str),
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
        let runtime: Option<RuntimeId> = param("runtime_id").and_then(|id| id.parse().ok());
        let (rule, worker, segments) = if route == Some(FORWARDED_ROUTE) {
            let segments: Vec<&str> = param("path").unwrap_or_default().split('/').collect();
            let worker = match segments[..] {
                ["sessions" | "workers", id, ..] => id.parse().ok(),
                _ => None,
            };
            let rule = route_index::daemon_rule(request.method(), &segments);
            (rule, worker, segments.into_iter().map(str::to_owned).collect())
        } else {
            let worker = param("worker_id").and_then(|id| id.parse().ok());
            (route_index::hub_rule(request.method(), route), worker, Vec::new())
        };
        let target = match rule.resource {
            ResourceSource::None | ResourceSource::InBody | ResourceSource::InQuery => RequestTarget::None,
            ResourceSource::OfRuntime => match &runtime {
                Some(id) => RequestTarget::Resource(WorkspaceResource::Runtime(id.clone())),
                None => RequestTarget::Invalid("runtime id"),
            },
            ResourceSource::OfDevice => parse(param("client_id"), "device id", WorkspaceResource::Device),
            ResourceSource::OfGrant => parse(param("grant_id"), "grant id", WorkspaceResource::Grant),
            ResourceSource::OfEnvironment => {
                parse(param("environment_id"), "environment id", WorkspaceResource::Environment)
            }
            ResourceSource::OfWait => {
                parse(param("wait_id"), "approval id", WorkspaceResource::RememberedApproval)
            }
            ResourceSource::OfToken => parse(param("token_id"), "token id", RequestTarget::Token),
            ResourceSource::OfPath => parse(param("workspace"), "workspace", RequestTarget::Workspace),
        };
        Self { rule, runtime, worker, segments, target }
    }
}

impl From<WorkspaceResource> for RequestTarget {
    fn from(resource: WorkspaceResource) -> Self {
        Self::Resource(resource)
    }
}

impl RequestTarget {
    /// The problem of a path parameter that is not of its type.
    pub(crate) fn invalid<T>(name: &str) -> Result<T> {
        Err(ProblemResponse::new(ProblemKind::InvalidRequest, format!("the {name} is invalid")))
    }
}

fn parse<T: FromStr, R: Into<RequestTarget>>(
    param: Option<&str>,
    name: &'static str,
    target: impl FnOnce(T) -> R,
) -> RequestTarget {
    match param.and_then(|value| value.parse().ok()) {
        Some(value) => target(value).into(),
        None => RequestTarget::Invalid(name),
    }
}
