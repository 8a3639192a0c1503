//! The guard before every route: it authenticates the caller, checks that the action is allowed, and writes the audit entry.

use std::sync::Arc;

use axum::{
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, Method, header};
use protocol::{ProblemKind, RuntimeId};
use server::{HostPolicy, PeerAddress, ProblemResponse, Result, bearer_token};

use crate::{
    AccessLimits, AccessRequest, AccessWatch, AuditLog, Permit, Principal, RightsWatch, SessionCookie,
    SigningKey, UserStore, WorkspaceLookup,
    audit_log::AuditOutcome,
    policy::CurrentPolicy,
    route_table::{AuditRule, Requirement, RouteAction},
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
    let admission = admission.and_then(|admission| {
        access.check_space(request.method(), asked.action)?;
        Ok(admission)
    });
    let action = asked.action;
    let works_when_low = action.works_on_full_disk(request.method());
    let response = match admission {
        Ok(admission) => {
            request.extensions_mut().insert(asked);
            admission.caller.map(|caller| request.extensions_mut().insert(caller));
            admission.permit.map(|permit| request.extensions_mut().insert(permit));
            if action.audit == AuditRule::Always {
                pending.write_even_if_dropped();
            }
            let response = next.run(request).await;
            if let Some(caller) = response.extensions().get::<Principal>() {
                pending.set_caller(caller);
            }
            if !action.leaves_entry(response.status()) {
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
        // What ends access is never held back for its entry, which is written as soon as there is space.
        AuditOutcome::Kept if works_when_low => response,
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

/// What an admitted request carries to its handler.
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

    /// Refuses what the audit log may have no room for, before anything is done.
    fn check_space(&self, method: &Method, action: &RouteAction) -> Result<()> {
        if action.audit == AuditRule::Always && !action.works_on_full_disk(method) && self.audit.is_low() {
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
        if asked.action.requirement == Requirement::Anonymous {
            return Ok(Admission::default());
        }
        let caller = self.authenticate(request, asked)?;
        authenticated(&caller);
        let permit = self.authorize(&caller, asked)?;
        Ok(Admission { caller: Some(caller), permit })
    }

    /// Finds the caller by the bearer token, or by the cookie of a browser that has logged in.
    fn authenticate(&self, request: &Request, asked: &AccessRequest) -> Result<Principal> {
        let needs_page_key = !asked.action.only_identifies();
        let (headers, peer) = (request.headers(), peer(request));
        let kind = SessionCookie::for_request(headers, peer);
        let cookie = kind.read(headers);
        let (rights, by_cookie) = match (bearer_token(headers), &cookie) {
            // A cookie's secret is valid in the cookie only: there, the browser enforces which site may send it.
            (Some(token), _) => (self.users.find(token).filter(|rights| !rights.token.is_session), false),
            (None, Some(secret)) => (self.users.find(secret).filter(|rights| rights.token.is_session), true),
            (None, None) => (None, false),
        };
        let Some(rights) = rights else { return Err(self.limits.unauthorized(peer)) };
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

    /// Checks the requirement of the action. Where it is a role, the policy decides, and the permit follows its decisions.
    fn authorize(&self, caller: &Principal, asked: &AccessRequest) -> Result<Option<Permit>> {
        let action = asked.action;
        match action.requirement {
            Requirement::Anonymous | Requirement::AnyToken => Ok(None),
            Requirement::Admin if caller.is_admin() => Ok(None),
            Requirement::Admin => {
                let detail = format!("`{}` needs an unscoped token of a hub administrator", action.name);
                Err(ProblemResponse::new(ProblemKind::Forbidden, detail))
            }
            Requirement::Role(role) => {
                let Some(id) = &asked.runtime else {
                    return Err(ProblemResponse::new(
                        ProblemKind::InvalidRequest,
                        "the runtime id is invalid",
                    ));
                };
                let workspace = self.workspaces.of_runtime(id).filter(|workspace| caller.sees(workspace));
                let workspace = workspace.ok_or_else(|| runtime_not_found(id))?;
                let rights = RightsWatch::new(&self.users, caller.token);
                let watch =
                    AccessWatch::new(caller.rights.subject_in(&workspace), Some(rights), &self.policy);
                let mut permit = Permit::new(watch, (action, role), (id.clone(), asked.worker.clone()));
                permit.check().map_err(|reason| ProblemResponse::new(ProblemKind::Forbidden, reason))?;
                Ok(Some(permit))
            }
        }
    }
}

fn peer(request: &Request) -> Option<PeerAddress> {
    request.extensions().get().copied()
}

fn has_side_effect(method: &Method, headers: &HeaderMap) -> bool {
    !method.is_safe() || headers.contains_key(header::UPGRADE)
}

/// The answer for a runtime that does not exist, and for one that the caller cannot see.
pub fn runtime_not_found(id: &RuntimeId) -> ProblemResponse {
    ProblemResponse::new(ProblemKind::RuntimeNotFound, format!("runtime `{id}` does not exist"))
}
