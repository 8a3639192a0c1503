//! Who asks, and what they may do.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use protocol::{
    RuntimeId, TokenId, UserName, WorkspaceName,
    hub::Role,
    people::{AccessToken, User},
};
use server::ProblemResponse;

use crate::policy::{Policy, Sight, Who};

/// Who asks, as the guard found out by the token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Caller {
    pub(crate) user: UserName,
    pub(crate) token: TokenId,
    pub(crate) rights: Rights,
}

/// What somebody may do with a token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rights {
    pub(crate) user: Arc<User>,
    pub(crate) token: Arc<AccessToken>,
}

impl Rights {
    /// Whether they manage users, tokens and runtimes. A token with a scope does not.
    pub(crate) fn is_admin(&self) -> bool {
        self.user.is_admin && self.token.scope.is_none()
    }

    /// What they may do in a workspace: what the user may, as far as the token goes.
    pub(crate) fn role_in(&self, workspace: &WorkspaceName) -> Option<Role> {
        let role = self.user.role_in(workspace)?;
        let Some(scope) = &self.token.scope else { return Some(role) };
        if scope.workspaces.as_ref().is_some_and(|only| !only.contains(workspace)) {
            return None;
        }
        Some(scope.role.map_or(role, |most| role.min(most)))
    }

    /// The highest role that they have in any workspace.
    pub(crate) fn highest_role(&self) -> Option<Role> {
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

    /// Whether the runtimes of a workspace are there for them.
    pub(crate) fn sees(&self, workspace: &WorkspaceName) -> bool {
        self.is_admin() || self.may_watch(workspace)
    }

    /// Whether what happens in a workspace is shown to them. Managing the hub is not enough.
    pub(crate) fn may_watch(&self, workspace: &WorkspaceName) -> bool {
        self.role_in(workspace).is_some()
    }

    /// Them, as a policy knows them.
    pub(crate) fn who_in(&self, workspace: &WorkspaceName) -> Who {
        let (user, role) = (self.user.name.clone(), self.role_in(workspace));
        Who { user, workspace: workspace.clone(), role }
    }

    /// How a runtime of a workspace looks to them.
    pub(crate) fn sight(&self, policy: &dyn Policy, workspace: &WorkspaceName, id: &RuntimeId) -> Sight {
        policy.sight(&self.who_in(workspace), id)
    }
}

impl Caller {
    pub(crate) fn new(rights: Rights) -> Self {
        Self { user: rights.user.name.clone(), token: rights.token.id, rights }
    }

    /// Whether they manage users, tokens and runtimes.
    pub(crate) fn is_admin(&self) -> bool {
        self.rights.is_admin()
    }

    /// Whether the runtimes of a workspace are there for them.
    pub(crate) fn sees(&self, workspace: &WorkspaceName) -> bool {
        self.rights.sees(workspace)
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ProblemResponse;

    async fn from_request_parts(head: &mut Parts, _: &S) -> Result<Self, ProblemResponse> {
        // The guard lets nobody in whom it does not know.
        head.extensions.get().cloned().ok_or_else(|| ProblemResponse::internal(&NoCaller))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the request has no authenticated caller")]
struct NoCaller;
