//! `/api/users`: the users of a hub.

use protocol::{
    UserName,
    people::{CallerIdentity, CreateUserRequest, UpdateUserRequest, User, UserList},
};
use reqwest::Method;

use crate::{ApiResponse, Client, Result};

/// The users of a hub.
#[derive(Debug, Clone, Copy)]
pub struct UsersApi<'a>(pub(crate) &'a Client);

impl UsersApi<'_> {
    /// Lists all users.
    pub async fn list(self) -> Result<ApiResponse<UserList>> {
        self.0.call(Method::GET, &["api", "users"], &[]).await
    }

    /// Adds a user.
    pub async fn add(self, user: &CreateUserRequest) -> Result<ApiResponse<User>> {
        self.0.call_with_body(Method::POST, &["api", "users"], &[], user).await
    }

    /// Reads one user.
    pub async fn get(self, name: &UserName) -> Result<ApiResponse<User>> {
        self.0.call(Method::GET, &["api", "users", name.as_str()], &[]).await
    }

    /// Replaces all permissions of a user.
    pub async fn update(self, name: &UserName, permissions: &UpdateUserRequest) -> Result<ApiResponse<User>> {
        self.0.call_with_body(Method::PUT, &["api", "users", name.as_str()], &[], permissions).await
    }

    /// Removes a user and all their tokens.
    pub async fn remove(self, name: &UserName) -> Result<ApiResponse<()>> {
        self.0.call(Method::DELETE, &["api", "users", name.as_str()], &[]).await
    }

    /// Reads the user that the token belongs to.
    pub async fn whoami(self) -> Result<ApiResponse<CallerIdentity>> {
        self.0.call(Method::GET, &["api", "whoami"], &[]).await
    }
}
