//! The rules, stated once more and independently of the hub's own table.

use protocol::hub::Role::{self, Controller, Owner, Viewer};
use serde_json::Value;

use super::identities::Identity;

/// Which callers a route is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    /// Everybody.
    Anyone,
    /// Holders of another secret than a user's token.
    OtherSecret,
    /// Every user.
    AnyToken,
    /// Every user; the requested thing of this kind does not exist.
    Missing(&'static str),
    /// Administrators.
    Admin,
    /// Owners of any workspace, and administrators.
    OwnerSomewhere,
    /// A role in the workspace of a runtime. Administrators need it too.
    Runtime(Role),
    /// A role in the workspace of a thing of this kind, or an administrator.
    Thing(&'static str, Role),
    /// A role in the workspace that the request names, or an administrator.
    Workspace(Role),
    /// Users for themselves, administrators for all.
    ListTokens,
    CreateTokens,
    RevokeTokens,
}

/// The kind of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Authorized, whatever comes of it.
    Allowed,
    Unauthorized,
    Forbidden,
    /// Either of the two.
    Refused,
    /// As if it did not exist: the kind of the problem.
    Hidden(&'static str),
}

impl Answer {
    pub(super) fn matches(self, status: u16, problem: &Value, without_body: bool) -> bool {
        let is = |kind: &str| without_body || problem["type"] == format!("urn:problem:{kind}");
        let hidden = ["runtime", "device", "grant", "environment", "wait", "token"];
        match self {
            Self::Unauthorized => status == 401 && is("unauthorized"),
            Self::Forbidden => status == 403 && is("forbidden"),
            Self::Refused => status == 401 || status == 403,
            Self::Hidden(kind) => status == 404 && is(&format!("{kind}-not-found")),
            Self::Allowed => {
                let is_hidden =
                    hidden.iter().any(|kind| problem["type"] == format!("urn:problem:{kind}-not-found"));
                !(matches!(status, 401 | 403) || status == 500 || is_hidden)
            }
        }
    }
}

impl Rule {
    /// The answer for an identity. `number` is the workspace, or the user for routes about tokens: 0 for the caller's own, 1
    /// for another user's.
    pub(super) fn expected(self, identity: &Identity, number: usize) -> Answer {
        let allowed_if = |is_allowed, otherwise| if is_allowed { Answer::Allowed } else { otherwise };
        match self {
            Self::Anyone => return Answer::Allowed,
            Self::OtherSecret => return Answer::Refused,
            _ if !identity.is_known => return Answer::Unauthorized,
            _ => {}
        }
        let (role, admin) = (identity.roles[number], identity.is_admin);
        let is_visible = admin || role.is_some();
        match self {
            Self::Anyone | Self::OtherSecret | Self::AnyToken => Answer::Allowed,
            Self::Missing(kind) => Answer::Hidden(kind),
            Self::Admin => allowed_if(admin, Answer::Forbidden),
            Self::OwnerSomewhere => {
                allowed_if(admin || identity.roles.contains(&Some(Owner)), Answer::Forbidden)
            }
            Self::Runtime(_) if !is_visible => Answer::Hidden("runtime"),
            Self::Runtime(needed) => allowed_if(role >= Some(needed), Answer::Forbidden),
            Self::Thing(kind, _) if !is_visible => Answer::Hidden(kind),
            Self::Thing(_, needed) | Self::Workspace(needed) => {
                allowed_if(admin || role >= Some(needed), Answer::Forbidden)
            }
            Self::ListTokens => allowed_if(number == 0 || admin, Answer::Forbidden),
            Self::CreateTokens => {
                let is_whole = !identity.is_scoped && !identity.is_session;
                allowed_if(is_whole && (number == 0 || admin), Answer::Forbidden)
            }
            Self::RevokeTokens => {
                allowed_if(admin || number == 0 && !identity.is_scoped, Answer::Hidden("token"))
            }
        }
    }
}

/// The rule of a route of a daemon; `path` is what follows `/v1/`.
pub(super) fn daemon_rule(method: &str, path: &str) -> Rule {
    let reads = ["search", "sessions", "workers", "waits", "agents", "health", "openapi.json"];
    let first = path.split('/').next().unwrap();
    Rule::Runtime(match (method, first) {
        ("GET" | "HEAD", first) if reads.contains(&first) => Viewer,
        ("DELETE", "sessions") if path == "sessions/{id}" => Owner,
        ("PATCH", _) => Owner,
        (_, "sessions" | "waits") => Controller,
        _ => Owner,
    })
}

/// The rules of the hub's own routes.
pub(super) fn hub_rules() -> Vec<(&'static str, &'static str, Rule)> {
    use Rule::{
        Admin, AnyToken, Anyone, CreateTokens, ListTokens, Missing, OtherSecret, OwnerSomewhere,
        RevokeTokens, Runtime, Thing, Workspace,
    };
    vec![
        ("GET", "/api/health", Anyone),
        ("GET", "/api/openapi.json", AnyToken),
        ("GET", "/metrics", Admin),
        ("POST", "/api/login", Anyone),
        ("POST", "/api/logout", AnyToken),
        ("GET", "/api/whoami", AnyToken),
        ("GET", "/api/users", Admin),
        ("POST", "/api/users", Admin),
        ("GET", "/api/users/{user}", Admin),
        ("PUT", "/api/users/{user}", Admin),
        ("DELETE", "/api/users/{user}", Admin),
        ("GET", "/api/tokens", ListTokens),
        ("POST", "/api/tokens", CreateTokens),
        ("DELETE", "/api/tokens/{token_id}", RevokeTokens),
        ("GET", "/api/audit", Admin),
        ("GET", "/api/runtimes", AnyToken),
        ("POST", "/api/runtimes", Admin),
        ("POST", "/api/runtimes/join-tokens", Admin),
        ("GET", "/api/join/ws", OtherSecret),
        ("GET", "/api/runtimes/{runtime_id}", Runtime(Viewer)),
        ("DELETE", "/api/runtimes/{runtime_id}", Admin),
        ("GET", "/api/runtimes/{runtime_id}/workers", Runtime(Viewer)),
        ("GET", "/api/runtimes/{runtime_id}/workers/{worker_id}", Runtime(Viewer)),
        ("GET", "/api/runtimes/{runtime_id}/workers/{worker_id}/events/ws", Runtime(Viewer)),
        ("GET", "/api/runtimes/{runtime_id}/workers/{worker_id}/presence", Runtime(Viewer)),
        ("GET", "/api/devices", AnyToken),
        ("POST", "/api/devices", Workspace(Owner)),
        ("GET", "/api/devices/{client_id}", Thing("device", Viewer)),
        ("DELETE", "/api/devices/{client_id}", Thing("device", Owner)),
        ("POST", "/api/devices/{client_id}/stop", Thing("device", Controller)),
        ("GET", "/api/devices/pairings", Admin),
        ("POST", "/api/devices/pairings", Anyone),
        ("POST", "/api/devices/pairings/claim", OtherSecret),
        ("GET", "/api/devices/pairings/{code}", OwnerSomewhere),
        ("POST", "/api/devices/pairings/{code}/confirm", Workspace(Owner)),
        ("POST", "/api/devices/pairings/{code}/refuse", OwnerSomewhere),
        ("GET", "/api/grants", AnyToken),
        ("POST", "/api/grants", Thing("device", Owner)),
        ("DELETE", "/api/grants/{grant_id}", Thing("grant", Owner)),
        ("GET", "/api/v1/relay/connect", OtherSecret),
        ("GET", "/api/v1/relay/environments", AnyToken),
        ("POST", "/api/v1/relay/environments", Thing("runtime", Controller)),
        ("GET", "/api/v1/relay/environments/{environment_id}", Thing("environment", Viewer)),
        ("DELETE", "/api/v1/relay/environments/{environment_id}", Thing("environment", Controller)),
        ("GET", "/api/v1/relay/environments/{environment_id}/connect", OtherSecret),
        ("POST", "/api/v1/relay/environments/{environment_id}/requests", OtherSecret),
        ("GET", "/api/v1/relay/environments/{environment_id}/mcp", OtherSecret),
        ("POST", "/api/v1/relay/environments/{environment_id}/mcp", OtherSecret),
        ("DELETE", "/api/v1/relay/environments/{environment_id}/mcp", OtherSecret),
        ("DELETE", "/api/v1/relay/approvals/{wait_id}", Thing("wait", Controller)),
        ("GET", "/api/v1/relay/audit", Admin),
        ("GET", "/api/v1/relay/status", Admin),
        ("PUT", "/api/workspaces/{workspace}/relay", Workspace(Owner)),
        ("GET", "/api/waits", AnyToken),
        ("GET", "/api/waits/events", AnyToken),
        ("GET", "/api/waits/{wait_id}", Missing("wait")),
        ("POST", "/api/waits/{runtime_id}/{wait_id}", Runtime(Controller)),
    ]
}
