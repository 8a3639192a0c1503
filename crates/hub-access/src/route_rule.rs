//! One row of the route table.

use http::StatusCode;
use protocol::hub::Role as WorkspaceRole;

use crate::action::Action;

/// A route and the rule for requests to it.
#[derive(Debug, PartialEq, Eq)]
pub struct RouteRule {
    /// The method. `HEAD` follows the rule of `GET`.
    pub(crate) method: &'static str,
    /// The path with its parameters: below `/v1/` for a route of a daemon, which the hub forwards.
    pub(crate) path: &'static str,
    /// The action.
    pub action: Action,
    pub(crate) requirement: Requirement,
    pub(crate) resource: ResourceSource,
    pub(crate) audit: AuditRule,
}

/// The least that a caller needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// No user's token. Some of these routes have a secret of their own, which their handler checks.
    Anonymous,
    /// Any valid token. The response contains only what the caller may see.
    AnyToken,
    /// A role in the workspace of the resource. An administrator needs it too.
    Role(WorkspaceRole),
    /// A role in the workspace of the resource, or to be an administrator.
    RoleOrAdmin(WorkspaceRole),
    /// The role `owner` in any workspace, or to be an administrator: for a device that does not belong to a workspace yet.
    OwnerSomewhere,
    /// To be the user whom the request is about, or an administrator.
    SelfOrAdmin,
    /// The same, with a token that has no scope.
    UnscopedSelfOrAdmin,
    /// To be an administrator, with a token that has no scope.
    Admin,
}

/// Where the guard finds the resource that a request is about, and thereby its workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResourceSource {
    /// The requirement needs none.
    None,
    /// `{runtime_id}` in the path.
    OfRuntime,
    /// `{client_id}` in the path.
    OfDevice,
    /// `{grant_id}` in the path.
    OfGrant,
    /// `{environment_id}` in the path.
    OfEnvironment,
    /// `{wait_id}` in the path: a remembered approval.
    OfWait,
    /// `{token_id}` in the path: its user.
    OfToken,
    /// `{workspace}` in the path.
    OfPath,
    /// In the body, which the handler reads with [`AuthorizedJson`](crate::AuthorizedJson).
    InBody,
    /// In the query, which the handler reads with [`AuthorizedQuery`](crate::AuthorizedQuery).
    InQuery,
}

/// Which responses leave an entry in the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AuditRule {
    /// Every response, because the request changes something. It is refused while the log lacks its reserve.
    Always,
    /// Every response, because the request ends something or takes access away. It is carried out on a full disk too: its
    /// entry uses the reserve of the log.
    AlwaysFromReserve,
    /// Refusals, because the request changes nothing.
    Refusals,
    /// Only missing or wrong credentials: the relay's own log has the rest.
    Unauthenticated,
}

impl AuditRule {
    /// Whether the request changes something.
    pub(crate) const fn is_change(self) -> bool {
        matches!(self, Self::Always | Self::AlwaysFromReserve)
    }
}

impl RouteRule {
    /// Whether a response with this status leaves an entry in the audit log.
    pub(crate) fn leaves_entry(&self, status: StatusCode) -> bool {
        let is_refused = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        match self.audit {
            // Anonymous clients can send any number of bad requests. Entries about these would push out all others; refusals
            // are limited per address.
            AuditRule::Always | AuditRule::AlwaysFromReserve
                if self.requirement == Requirement::Anonymous =>
            {
                is_refused || !status.is_client_error()
            }
            AuditRule::Always | AuditRule::AlwaysFromReserve => true,
            AuditRule::Refusals => is_refused,
            AuditRule::Unauthenticated => status == StatusCode::UNAUTHORIZED,
        }
    }
}

impl ResourceSource {
    /// Whether the resource is known only after the handler has parsed the request.
    pub(crate) const fn is_deferred(self) -> bool {
        matches!(self, Self::InBody | Self::InQuery)
    }
}
