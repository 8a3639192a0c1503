//! The check of a request whose body or query names what it is about.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use axum::extract::{FromRef, FromRequest, FromRequestParts, Request};
use http::{Extensions, request::Parts};
use protocol::{
    UserName, WorkspaceName,
    lending::{AddDeviceRequest, ConfirmPairingRequest, CreateEnvironmentRequest, CreateGrantRequest},
    people::CreateTokenRequest,
};
use serde::de::DeserializeOwned;
use server::{
    ProblemResponse, Result, StallTimeout,
    extract::{Json, Query},
};

use crate::{
    guard::AccessGuard, principal::Principal, route_rule::RouteRule, workspace_resource::WorkspaceResource,
};

/// The workspace, resource or user that a parsed request is about.
pub enum RequestSubject<'a> {
    /// A workspace.
    Workspace(&'a WorkspaceName),
    /// A resource, which decides the workspace.
    Resource(WorkspaceResource),
    /// A user; the caller if `None`.
    User(Option<&'a UserName>),
}

/// A body or query that names what the request is about.
pub trait NamesSubject {
    /// The workspace, resource or user that the request is about.
    fn subject(&self) -> RequestSubject<'_>;
}

/// A JSON body that the caller is authorized for: the extractor checks the rule of the route after it has parsed the body.
pub struct AuthorizedJson<T>(pub T);

/// A query that the caller is authorized for: the extractor checks the rule of the route after it has parsed the query.
pub struct AuthorizedQuery<T>(pub T);

/// A check that the guard leaves to an extractor. The guard answers 500 instead of a success if it was never run.
#[derive(Clone)]
pub(crate) struct DeferredCheck {
    access: Arc<AccessGuard>,
    rule: &'static RouteRule,
    caller: Principal,
    has_run: Arc<AtomicBool>,
}

impl DeferredCheck {
    pub(crate) fn new(access: &Arc<AccessGuard>, rule: &'static RouteRule, caller: &Principal) -> Self {
        let (access, caller) = (Arc::clone(access), caller.clone());
        Self { access, rule, caller, has_run: Arc::default() }
    }

    pub(crate) fn has_run(&self) -> bool {
        self.has_run.load(Relaxed)
    }

    fn run(&self, subject: &RequestSubject<'_>) -> Result<()> {
        self.has_run.store(true, Relaxed);
        self.access.check_subject(&self.caller, self.rule, subject)
    }

    fn from_extensions(extensions: &Extensions) -> Result<Self> {
        let check = extensions.get::<Self>().cloned();
        check.ok_or_else(|| ProblemResponse::internal(&MissingCheck))
    }
}

impl<T, S> FromRequest<S> for AuthorizedJson<T>
where
    T: DeserializeOwned + NamesSubject,
    S: Send + Sync,
    StallTimeout: FromRef<S>,
{
    type Rejection = ProblemResponse;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let check = DeferredCheck::from_extensions(request.extensions())?;
        let Json(body) = Json::<T>::from_request(request, state).await?;
        check.run(&body.subject())?;
        Ok(Self(body))
    }
}

impl<T, S> FromRequestParts<S> for AuthorizedQuery<T>
where
    T: DeserializeOwned + NamesSubject,
    S: Send + Sync,
{
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let check = DeferredCheck::from_extensions(&parts.extensions)?;
        let Query(query) = Query::<T>::from_request_parts(parts, state).await?;
        check.run(&query.subject())?;
        Ok(Self(query))
    }
}

impl NamesSubject for AddDeviceRequest {
    fn subject(&self) -> RequestSubject<'_> {
        RequestSubject::Workspace(&self.workspace)
    }
}

impl NamesSubject for ConfirmPairingRequest {
    fn subject(&self) -> RequestSubject<'_> {
        RequestSubject::Workspace(&self.workspace)
    }
}

impl NamesSubject for CreateGrantRequest {
    fn subject(&self) -> RequestSubject<'_> {
        RequestSubject::Resource(WorkspaceResource::Device(self.client_id.clone()))
    }
}

impl NamesSubject for CreateEnvironmentRequest {
    fn subject(&self) -> RequestSubject<'_> {
        RequestSubject::Resource(WorkspaceResource::Runtime(self.runtime_id.clone()))
    }
}

impl NamesSubject for CreateTokenRequest {
    fn subject(&self) -> RequestSubject<'_> {
        RequestSubject::User(self.user.as_ref())
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the route table does not say that the request names what it is about")]
struct MissingCheck;
