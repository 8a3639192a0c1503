//! The authenticated caller of a request.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use protocol::{
    RuntimeId, TokenId, UserName, WorkspaceName,
    hub::Role,
    people::{AccessToken, User},
};
use server::ProblemResponse;

use crate::policy::{Policy, PolicySubject, Visibility};

/// The caller of a request, as the guard authenticated it.
#[derive(Debug, Clone, PartialEq)]
pub struct Principal {
    /// The name of the user.
    pub user: UserName,
    /// The id of the token.
    pub token: TokenId,
    /// The rights of both.
    pub rights: EffectiveRights,
}

/// The rights of a user, limited by the scope of the token.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectiveRights {
    /// The user.
    pub user: Arc<User>,
    /// The token.
    pub token: Arc<AccessToken>,
}

impl EffectiveRights {
    /// Whether the caller administers the hub. A scoped token does not.
    pub fn is_admin(&self) -> bool {
        self.user.is_admin && self.token.scope.is_none()
    }

    /// The role in a workspace: the user's role, limited by the scope of the token.
    pub fn role_in(&self, workspace: &WorkspaceName) -> Option<Role> {
        let role = self.user.role_in(workspace)?;
        let Some(scope) = &self.token.scope else { return Some(role) };
        if scope.workspaces.as_ref().is_some_and(|only| !only.contains(workspace)) {
            return None;
        }
        Some(scope.role.map_or(role, |most| role.min(most)))
    }

    /// The highest role in any workspace.
    pub fn highest_role(&self) -> Option<Role> {
        let named = self.user.roles.keys().filter_map(|workspace| self.role_in(workspace)).max();
        let scope = self.token.scope.as_ref();
        // The default role is for workspaces that the user has no role of their own in; a scope may name some of those.
        let only = scope.and_then(|scope| scope.workspaces.as_ref());
        let elsewhere = match only {
            Some(only) => only.iter().filter_map(|workspace| self.role_in(workspace)).max(),
            None => self
                .user
                .default_role
                .map(|role| scope.and_then(|scope| scope.role).map_or(role, |most| role.min(most))),
        };
        named.max(elsewhere)
    }

    /// Whether the resources of a workspace are visible to the caller.
    pub fn sees(&self, workspace: &WorkspaceName) -> bool {
        self.is_admin() || self.may_watch(workspace)
    }

    /// Whether the caller may watch sessions of a workspace. Administrators need a role for that too.
    pub fn may_watch(&self, workspace: &WorkspaceName) -> bool {
        self.role_in(workspace).is_some()
    }

    /// The caller as the policy knows them.
    pub fn subject_in(&self, workspace: &WorkspaceName) -> PolicySubject {
        let (user, role) = (self.user.name.clone(), self.role_in(workspace));
        PolicySubject { user, workspace: workspace.clone(), role }
    }

    /// The part of a runtime's events that the caller sees.
    pub fn visibility(&self, policy: &dyn Policy, workspace: &WorkspaceName, id: &RuntimeId) -> Visibility {
        policy.visibility(&self.subject_in(workspace), id)
    }
}

impl Principal {
    /// The caller with these rights.
    pub fn new(rights: EffectiveRights) -> Self {
        Self { user: rights.user.name.clone(), token: rights.token.id, rights }
    }

    /// Whether the caller administers the hub.
    pub fn is_admin(&self) -> bool {
        self.rights.is_admin()
    }

    /// Whether the resources of a workspace are visible to the caller.
    pub fn sees(&self, workspace: &WorkspaceName) -> bool {
        self.rights.sees(workspace)
    }
}

impl<S: Sync> FromRequestParts<S> for Principal {
    type Rejection = ProblemResponse;

    async fn from_request_parts(head: &mut Parts, _: &S) -> Result<Self, ProblemResponse> {
        // The guard inserts the caller wherever the route table requires a token.
        head.extensions.get().cloned().ok_or_else(|| ProblemResponse::internal(&MissingPrincipal))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the request has no authenticated caller")]
struct MissingPrincipal;
