//! Wire types of `/api/users` and `/api/tokens`: the users of a hub, their roles and tokens.

use std::{collections::BTreeMap, fmt};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{TokenId, TokenName, UserName, WorkspaceName, hub::Role};

/// The response of `GET /api/users`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserList {
    /// Every user, sorted by name.
    pub items: Vec<User>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

/// A user of the hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// The name.
    pub name: UserName,
    /// Whether the user manages users, tokens and runtimes.
    #[serde(alias = "admin")]
    pub is_admin: bool,
    /// The role in workspaces that `roles` does not name, including future ones; `null` for no access.
    #[serde(alias = "everywhere")]
    pub default_role: Option<Role>,
    /// The roles by workspace.
    pub roles: BTreeMap<WorkspaceName, Role>,
    /// When the user was added.
    pub created_at: Timestamp,
}

impl User {
    /// The role of the user in a workspace.
    pub fn role_in(&self, workspace: &WorkspaceName) -> Option<Role> {
        self.roles.get(workspace).copied().or(self.default_role)
    }
}

/// The body of `POST /api/users`, which adds a user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateUserRequest {
    /// The name.
    pub name: UserName,
    /// Whether the user manages users, tokens and runtimes.
    #[serde(default, alias = "admin")]
    pub is_admin: bool,
    /// The role in workspaces that `roles` does not name, including future ones.
    #[serde(default, alias = "everywhere")]
    pub default_role: Option<Role>,
    /// The roles by workspace.
    #[serde(default)]
    pub roles: BTreeMap<WorkspaceName, Role>,
}

/// The body of `PUT /api/users/{user}`, which replaces all permissions of a user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateUserRequest {
    /// Whether the user manages users, tokens and runtimes.
    #[serde(default, alias = "admin")]
    pub is_admin: bool,
    /// The role in workspaces that `roles` does not name, including future ones.
    #[serde(default, alias = "everywhere")]
    pub default_role: Option<Role>,
    /// The roles by workspace.
    #[serde(default)]
    pub roles: BTreeMap<WorkspaceName, Role>,
}

/// The response of `GET /api/tokens`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessTokenList {
    /// Every token of the user, oldest first.
    pub items: Vec<AccessToken>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

/// A token of a user, without its secret: the hub stores only a hash of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessToken {
    /// The id.
    pub id: TokenId,
    /// The user.
    pub user: UserName,
    /// The name that the user gave it.
    pub name: TokenName,
    /// Limits the token to less than its user may do; `null` for no limit.
    pub scope: Option<TokenScope>,
    /// Whether it belongs to a browser that logged in.
    pub is_session: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires; `null` if never.
    pub expires_at: Option<Timestamp>,
}

/// Limits a token to less than its user may do. A scoped token never manages users, tokens or runtimes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenScope {
    /// The highest role; that of the user if `null`.
    #[serde(default)]
    pub role: Option<Role>,
    /// The only workspaces that it is valid for; all if `null`.
    #[serde(default)]
    pub workspaces: Option<Vec<WorkspaceName>>,
}

/// The body of `POST /api/tokens`, which creates a token.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateTokenRequest {
    /// The name.
    pub name: TokenName,
    /// The user; the caller if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserName>,
    /// Limits the token to less than its user may do; no limit if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<TokenScope>,
    /// When it expires. If left out, with the token that creates it; never if that does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The secret of another token of the caller. A browser that is logged in must send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_token: Option<String>,
}

/// Leaves out the secret.
impl fmt::Debug for CreateTokenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, user, scope, expires_at, .. } = self;
        let mut fields = f.debug_struct("CreateTokenRequest");
        fields.field("name", name).field("user", user).field("scope", scope).field("expires_at", expires_at);
        fields.finish_non_exhaustive()
    }
}

/// The response of `POST /api/tokens`.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenCreated {
    /// The token.
    pub token: AccessToken,
    /// The secret to send as `Authorization: Bearer …`. No other response contains it.
    pub secret: String,
}

/// Leaves out the secret.
impl fmt::Debug for TokenCreated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenCreated").field("token", &self.token).finish_non_exhaustive()
    }
}

/// The body of `POST /api/login`, which logs in a browser.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoginRequest {
    /// The secret of a token.
    pub token: String,
}

/// Leaves out the secret.
impl fmt::Debug for LoginRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginRequest").finish_non_exhaustive()
    }
}

/// The response of `POST /api/login`.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoginResponse {
    /// The user of the caller.
    pub user: User,
    /// The token behind the cookie.
    pub token: AccessToken,
    /// The key that must come with the cookie, in the header `Tombolo-Page-Key` or as the WebSocket sub-protocol
    /// `tombolo.page-key.…`; `null` over TLS. Browsers send cookies of this machine to every port, but this key to none.
    pub page_key: Option<String>,
}

/// Leaves out the key.
impl fmt::Debug for LoginResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("LoginResponse");
        fields.field("user", &self.user).field("token", &self.token).finish_non_exhaustive()
    }
}

/// The response of `GET /api/whoami`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallerIdentity {
    /// The user of the caller.
    pub user: User,
    /// The token of the caller.
    pub token: AccessToken,
}

crate::schema::wire_types! {
    received: CreateUserRequest, UpdateUserRequest, CreateTokenRequest, LoginRequest;
    sent: UserList, User, AccessTokenList, AccessToken, TokenCreated, LoginResponse, CallerIdentity;
}
