//! The guard before every route: it authenticates the caller, checks that the action is allowed, and writes the audit entry.

use std::sync::Arc;

use axum::{
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, Method, StatusCode, header};
use protocol::{ProblemKind, TokenId, UserName, WorkspaceName, hub::Role, people::AccessToken};
use server::{ErrorChain, HostPolicy, PeerAddress, ProblemResponse, Result, bearer_token};
use tracing::error;

use crate::{
    access_request::{AccessRequest, RequestTarget},
    access_watch::AccessWatch,
    audit_log::{AuditLog, AuditOutcome},
    deferred_check::{DeferredCheck, RequestSubject},
    limits::AccessLimits,
    permit::Permit,
    policy::CurrentPolicy,
    principal::{EffectiveRights, Principal},
    rights_watch::RightsWatch,
    route_rule::{AuditRule, Requirement, RouteRule},
    session_cookie::SessionCookie,
    signing_key::SigningKey,
    user_store::UserStore,
    workspace_resource::{WorkspaceLookup, WorkspaceResource},
};

/// Everything that the guard decides with.
pub struct AccessGuard {
    /// The users and their tokens.
    pub users: UserStore,
    /// The rate limits of addresses and tokens.
    pub limits: AccessLimits,
    /// The log of changes and refusals.
    pub audit: AuditLog,
    /// The names in `Host` and `Origin` that belong to the hub.
    pub hosts: HostPolicy,
    /// Signs page keys.
    pub key: SigningKey,
    /// The policy in force.
    pub policy: Arc<CurrentPolicy>,
    /// Finds the workspace that a resource belongs to.
    pub workspaces: Arc<dyn WorkspaceLookup>,
}

/// Passes a request on if its caller may do what it asks for. An entry about a change or a refusal is on disk before the
/// response is sent.
pub async fn guard(State(access): State<Arc<AccessGuard>>, mut request: Request, next: Next) -> Response {
    let names = access.check_names(&request);
    // Unknown paths below `/api/` need a token, so that a client without one cannot find out which paths exist.
    let is_route = request.extensions().get::<MatchedPath>().is_some();
    if names.is_ok() && !is_route && !request.uri().path().starts_with("/api/") {
        return next.run(request).await;
    }
    let asked = AccessRequest::from_request(&mut request).await;
    let mut pending = access.audit.begin(&request, &asked);
    let admission =
        names.and_then(|()| access.admit(&request, &asked, &mut |caller| pending.set_caller(caller)));
    let rule = asked.rule;
    let admission = admission.and_then(|admission| access.check_space(rule).map(|()| admission));
    let response = match admission {
        Ok(admission) => {
            let caller = admission.caller.as_ref().filter(|_| rule.resource.is_deferred());
            let deferred = caller.map(|caller| DeferredCheck::new(&access, rule, caller));
            deferred.clone().map(|check| request.extensions_mut().insert(check));
            request.extensions_mut().insert(asked);
            admission.caller.map(|caller| request.extensions_mut().insert(caller));
            admission.permit.map(|permit| request.extensions_mut().insert(permit));
            if rule.audit.is_change() {
                pending.write_even_if_dropped();
            }
            let mut response = next.run(request).await;
            if deferred.is_some_and(|check| !check.has_run()) && !is_failure(response.status()) {
                response = ProblemResponse::internal(&UncheckedRequest(rule.path)).into_response();
            }
            if let Some(caller) = response.extensions().get::<Principal>() {
                pending.set_caller(caller);
            }
            if !rule.leaves_entry(response.status()) {
                pending.discard();
                return response;
            }
            response
        }
        // Entries about these would push all others out of the log.
        Err(refusal) if refusal.problem().kind == ProblemKind::TooManyRequests => {
            return refusal.into_response();
        }
        Err(refusal) if !access.audit.admits_refusal() => {
            pending.discard();
            return refusal.into_response();
        }
        Err(refusal) => refusal.into_response(),
    };
    match pending.write(response.status()).await {
        AuditOutcome::Written => response,
        // A request that ends access is not held back for its entry, which is written as soon as there is space.
        AuditOutcome::Kept if rule.audit == AuditRule::AlwaysFromReserve => response,
        AuditOutcome::Kept => no_space().into_response(),
        AuditOutcome::Failed(error) => ProblemResponse::internal(&error).into_response(),
    }
}

fn no_space() -> ProblemResponse {
    ProblemResponse::new(
        ProblemKind::NoSpace,
        "the hub's disk is full and its audit log cannot be written, so nothing can be changed except to end or revoke \
         something; free disk space and try again",
    )
}

/// The caller and the permit that an admitted request carries to its handler.
#[derive(Default)]
struct Admission {
    caller: Option<Principal>,
    permit: Option<Permit>,
}

impl AccessGuard {
    /// Checks that `Host` names this hub, and that `Origin` is a page that may use it.
    fn check_names(&self, request: &Request) -> Result<()> {
        let checked = self.hosts.check(request.headers());
        checked.map_err(|refusal| self.limits.refuse(peer(request), refusal))
    }

    /// Refuses a change that the audit log may have no room for, before anything is done.
    fn check_space(&self, rule: &RouteRule) -> Result<()> {
        if rule.audit == AuditRule::Always && self.audit.is_low() {
            return Err(no_space());
        }
        Ok(())
    }

    fn admit(
        &self,
        request: &Request,
        asked: &AccessRequest,
        authenticated: &mut impl FnMut(&Principal),
    ) -> Result<Admission> {
        if asked.rule.requirement == Requirement::Anonymous {
            return Ok(Admission::default());
        }
        let caller = self.authenticate(request, asked)?;
        authenticated(&caller);
        let permit = self.authorize(&caller, asked)?;
        Ok(Admission { caller: Some(caller), permit })
    }

    /// Finds the caller by the bearer token, or by the cookie of a browser that has logged in.
    fn authenticate(&self, request: &Request, asked: &AccessRequest) -> Result<Principal> {
        let needs_page_key = !asked.rule.action.only_identifies();
        let (headers, peer) = (request.headers(), peer(request));
        let kind = SessionCookie::for_request(headers, peer);
        let cookie = kind.read(headers);
        let (rights, by_cookie) = match (bearer_token(headers), &cookie) {
            // A cookie's secret is valid in the cookie only: there, the browser enforces which site may send it.
            (Some(token), _) => {
                let found = self.users.find(token).filter(|rights| !rights.token.is_session);
                (
                    found.or_else(|| {
                        self.adopt_recovered(token, peer, request.method().as_str(), request.uri().path())
                    }),
                    false,
                )
            }
            (None, Some(secret)) => (self.users.find(secret).filter(|rights| rights.token.is_session), true),
            (None, None) => (None, false),
        };
        let Some(rights) = rights else {
            let expired_at = bearer_token(headers).and_then(|token| self.users.expired_at(token));
            return Err(match expired_at {
                Some(at) => self.limits.expired(peer, at),
                None => self.limits.unauthorized(peer),
            });
        };
        // A browser sends its cookie whichever page makes the request.
        if by_cookie
            && has_side_effect(request.method(), headers)
            && !self.hosts.is_same_or_allowed_origin(headers)
        {
            let detail = "requests with a cookie must have an `Origin` of this hub";
            return Err(self.limits.refuse(peer, ProblemResponse::new(ProblemKind::HostNotAllowed, detail)));
        }
        if let Some(secret) = cookie.filter(|_| by_cookie && needs_page_key)
            && !kind.has_page_key(&self.key, &secret, headers)
        {
            let detail = "requests with a cookie of this machine need the header `Tombolo-Page-Key`, with the `pageKey` \
                          that the login returned; log in again if it is lost";
            return Err(self.limits.refuse(peer, ProblemResponse::new(ProblemKind::Forbidden, detail)));
        }
        self.limits.count_request(rights.token.id)?;
        Ok(Principal::new(rights))
    }

    /// Accepts a recovered token on its first use. With a full disk it stays unused, because its entry could not be written.
    pub fn adopt_recovered(
        &self,
        token: &str,
        peer: Option<PeerAddress>,
        method: &str,
        path: &str,
    ) -> Option<EffectiveRights> {
        if self.audit.is_low() {
            return None;
        }
        let adopted = self.users.adopt_recovered(token);
        let rights = adopted
            .inspect_err(|error| error!(error = %ErrorChain(error), "could not store a recovered token"))
            .ok()
            .flatten()?;
        self.audit.recovery(&Principal::new(rights.clone()), peer, method, path);
        Some(rights)
    }

    /// Checks the rule of the route. Where the rule is a role in a runtime's workspace, the policy decides, and the permit
    /// follows its decisions.
    fn authorize(&self, caller: &Principal, asked: &AccessRequest) -> Result<Option<Permit>> {
        let rule = asked.rule;
        match rule.requirement {
            Requirement::Anonymous | Requirement::AnyToken => Ok(None),
            Requirement::Admin if caller.is_admin() => Ok(None),
            Requirement::Admin => {
                forbidden(format!("`{}` needs an unscoped token of a hub administrator", rule.action.name()))
            }
            Requirement::OwnerSomewhere => {
                if caller.is_admin() || caller.rights.highest_role() >= Some(Role::Owner) {
                    return Ok(None);
                }
                forbidden(format!("`{}` needs the role `owner` in some workspace", rule.action.name()))
            }
            Requirement::Role(_)
            | Requirement::RoleOrAdmin(_)
            | Requirement::SelfOrAdmin
            | Requirement::UnscopedSelfOrAdmin
                if rule.resource.is_deferred() =>
            {
                Ok(None)
            }
            Requirement::SelfOrAdmin | Requirement::UnscopedSelfOrAdmin => match &asked.target {
                RequestTarget::Token(id) => self.check_token(caller, *id).map(|()| None),
                RequestTarget::Invalid(name) => RequestTarget::invalid(name),
                RequestTarget::None | RequestTarget::Resource(_) | RequestTarget::Workspace(_) => {
                    Err(ProblemResponse::internal(&MissingTarget(rule.path)))
                }
            },
            Requirement::Role(role) => {
                let workspace = self.workspace(caller, asked)?;
                let Some(runtime) = asked.runtime.clone() else {
                    return Err(ProblemResponse::internal(&MissingTarget(rule.path)));
                };
                let rights = RightsWatch::new(&self.users, caller.token);
                let watch =
                    AccessWatch::new(caller.rights.subject_in(&workspace), Some(rights), &self.policy);
                let mut permit = Permit::new(watch, (rule.action, role), (runtime, asked.worker.clone()));
                permit.check().or_else(forbidden)?;
                Ok(Some(permit))
            }
            Requirement::RoleOrAdmin(_) => {
                let workspace = self.workspace(caller, asked)?;
                check_role(caller, rule, &workspace).map(|()| None)
            }
        }
    }

    /// Checks the rule of a request whose body or query was parsed.
    pub(crate) fn check_subject(
        &self,
        caller: &Principal,
        rule: &RouteRule,
        subject: &RequestSubject<'_>,
    ) -> Result<()> {
        match subject {
            RequestSubject::Workspace(workspace) => check_role(caller, rule, workspace),
            RequestSubject::Resource(resource) => {
                check_role(caller, rule, &self.visible_workspace(caller, resource)?)
            }
            RequestSubject::User(user) => check_user(caller, rule, user.unwrap_or(&caller.user)),
        }
    }

    /// The workspace that the path of a request is about.
    fn workspace(&self, caller: &Principal, asked: &AccessRequest) -> Result<WorkspaceName> {
        match &asked.target {
            RequestTarget::Resource(resource) => self.visible_workspace(caller, resource),
            // Names of workspaces are no secret: a caller without a role in it gets 403.
            RequestTarget::Workspace(workspace) => Ok(workspace.clone()),
            RequestTarget::Invalid(name) => RequestTarget::invalid(name),
            RequestTarget::None | RequestTarget::Token(_) => {
                Err(ProblemResponse::internal(&MissingTarget(asked.rule.path)))
            }
        }
    }

    /// The workspace of a resource. A resource in a workspace that the caller cannot see is answered like a missing one.
    fn visible_workspace(&self, caller: &Principal, resource: &WorkspaceResource) -> Result<WorkspaceName> {
        let workspace = self.workspaces.workspace_of(resource).filter(|workspace| caller.sees(workspace));
        workspace.ok_or_else(|| resource.not_found())
    }

    /// Checks that a token belongs to the caller. A scoped token has access to no other token than itself.
    fn check_token(&self, caller: &Principal, id: TokenId) -> Result<()> {
        let is_own = |token: &AccessToken| {
            token.user == caller.user && (caller.rights.token.scope.is_none() || id == caller.token)
        };
        let token = self.users.token(id).ok();
        if token.is_some_and(|token| caller.is_admin() || is_own(&token)) {
            return Ok(());
        }
        Err(ProblemResponse::new(ProblemKind::TokenNotFound, format!("token {id} does not exist")))
    }
}

/// Checks the role of the caller in a workspace, without the policy, which is about runtimes.
fn check_role(caller: &Principal, rule: &RouteRule, workspace: &WorkspaceName) -> Result<()> {
    let role = caller.rights.role_in(workspace);
    let (required, is_allowed) = match rule.requirement {
        Requirement::Role(required) => (required, role >= Some(required)),
        Requirement::RoleOrAdmin(required) => (required, caller.is_admin() || role >= Some(required)),
        Requirement::Anonymous
        | Requirement::AnyToken
        | Requirement::OwnerSomewhere
        | Requirement::SelfOrAdmin
        | Requirement::UnscopedSelfOrAdmin
        | Requirement::Admin => return Err(ProblemResponse::internal(&MissingTarget(rule.path))),
    };
    if is_allowed {
        return Ok(());
    }
    forbidden(format!("`{}` needs the role `{required}` in the workspace `{workspace}`", rule.action.name()))
}

/// Checks that a request is about the caller, unless an administrator sends it.
fn check_user(caller: &Principal, rule: &RouteRule, user: &UserName) -> Result<()> {
    if *user != caller.user && !caller.is_admin() {
        return forbidden("only a hub administrator may manage the tokens of other users".into());
    }
    if rule.requirement == Requirement::UnscopedSelfOrAdmin && caller.rights.token.scope.is_some() {
        // It could create a token that may do more than itself.
        return forbidden("a scoped token cannot create tokens".into());
    }
    Ok(())
}

fn forbidden<T>(detail: String) -> Result<T> {
    Err(ProblemResponse::new(ProblemKind::Forbidden, detail))
}

/// A row of the route table whose requirement needs something that its resource does not name.
#[derive(Debug, thiserror::Error)]
#[error("the rule of `{0}` names no workspace or user")]
struct MissingTarget(&'static str);

/// A handler that did not use the extractor which checks what its request is about.
#[derive(Debug, thiserror::Error)]
#[error("the handler of `{0}` did not check what the request is about")]
struct UncheckedRequest(&'static str);

fn is_failure(status: StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

fn peer(request: &Request) -> Option<PeerAddress> {
    request.extensions().get().copied()
}

fn has_side_effect(method: &Method, headers: &HeaderMap) -> bool {
    !method.is_safe() || headers.contains_key(header::UPGRADE)
}

#[cfg(test)]
mod tests;
