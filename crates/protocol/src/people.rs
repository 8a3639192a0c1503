//! `/api/users` and `/api/tokens`: who may use a hub, and what they may do.

use std::{collections::BTreeMap, fmt};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{TokenId, TokenName, UserName, WorkspaceName, hub::Role};

/// The answer of `GET /api/users`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserList {
    /// Every user, by name.
    pub items: Vec<User>,
    /// Always `null`: the list is whole.
    pub next_cursor: Option<String>,
}

/// Somebody who uses the hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Their name.
    pub name: UserName,
    /// Whether they manage users, tokens and runtimes.
    pub admin: bool,
    /// What they may do in workspaces that `roles` does not name, also in those of later; nothing if none.
    pub everywhere: Option<Role>,
    /// What they may do in some workspaces.
    pub roles: BTreeMap<WorkspaceName, Role>,
    /// Since when they are known.
    pub created_at: Timestamp,
}

impl User {
    /// What they may do in a workspace.
    pub fn role_in(&self, workspace: &WorkspaceName) -> Option<Role> {
        self.roles.get(workspace).copied().or(self.everywhere)
    }
}

/// `POST /api/users`: somebody who is to use the hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateUserRequest {
    /// The name that they get.
    pub name: UserName,
    /// Whether they manage users, tokens and runtimes.
    #[serde(default)]
    pub admin: bool,
    /// What they may do in workspaces that `roles` does not name, also in those of later.
    #[serde(default)]
    pub everywhere: Option<Role>,
    /// What they may do in some workspaces.
    #[serde(default)]
    pub roles: BTreeMap<WorkspaceName, Role>,
}

/// `PUT /api/users/{user}`: what somebody may do from now on. What is left out they may no longer do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateUserRequest {
    /// Whether they manage users, tokens and runtimes.
    #[serde(default)]
    pub admin: bool,
    /// What they may do in workspaces that `roles` does not name, also in those of later.
    #[serde(default)]
    pub everywhere: Option<Role>,
    /// What they may do in some workspaces.
    #[serde(default)]
    pub roles: BTreeMap<WorkspaceName, Role>,
}

/// The answer of `GET /api/tokens`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessTokenList {
    /// Every token of the user, the oldest first.
    pub items: Vec<AccessToken>,
    /// Always `null`: the list is whole.
    pub next_cursor: Option<String>,
}

/// What lets somebody in; the secret of it is known to nobody but them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessToken {
    /// Its name for the hub.
    pub id: TokenId,
    /// Whose it is.
    pub user: UserName,
    /// Its name for them.
    pub name: TokenName,
    /// How much less than its user it may do; as much if none.
    pub scope: Option<TokenScope>,
    /// Whether it is that of a browser that has logged in.
    pub is_session: bool,
    /// Since when there is it.
    pub created_at: Timestamp,
    /// Until when it is good; for ever if none.
    pub expires_at: Option<Timestamp>,
}

/// How much less than its user a token may do. One that has a scope manages neither users, tokens nor runtimes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenScope {
    /// The most that it may do; as much as its user if none.
    #[serde(default)]
    pub role: Option<Role>,
    /// The only workspaces that it is for; all if none.
    #[serde(default)]
    pub workspaces: Option<Vec<WorkspaceName>>,
}

/// `POST /api/tokens`: a token that is to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateTokenRequest {
    /// What it is called.
    pub name: TokenName,
    /// Whose it is to be; the caller's if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserName>,
    /// How much less than its user it may do; as much if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<TokenScope>,
    /// Until when it is good; for ever if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// The answer of `POST /api/tokens`.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenCreated {
    /// The token.
    pub token: AccessToken,
    /// What is to be sent as `Authorization: Bearer …`; it is not shown again.
    pub secret: String,
}

/// The secret is not shown.
impl fmt::Debug for TokenCreated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenCreated").field("token", &self.token).finish_non_exhaustive()
    }
}

/// `POST /api/login`: a browser that is to be let in.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoginRequest {
    /// The secret of a token.
    pub token: String,
}

/// The secret is not shown.
impl fmt::Debug for LoginRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginRequest").finish_non_exhaustive()
    }
}

/// The answer of `GET /api/whoami` and of `POST /api/login`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallerIdentity {
    /// Who asks.
    pub user: User,
    /// By which token they came in.
    pub token: AccessToken,
}
