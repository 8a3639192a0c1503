//! `/api/users`: who may use a hub.

use protocol::{
    UserName,
    people::{CallerIdentity, CreateUserRequest, UpdateUserRequest, User, UserList},
};
use reqwest::Method;

use crate::{Answer, Client, Result};

/// The users of a hub.
#[derive(Debug, Clone, Copy)]
pub struct Users<'a>(pub(crate) &'a Client);

impl Users<'_> {
    /// Every user.
    pub async fn list(self) -> Result<Answer<UserList>> {
        self.0.ask(Method::GET, &["api", "users"], &[]).await
    }

    /// Adds a user.
    pub async fn add(self, add: &CreateUserRequest) -> Result<Answer<User>> {
        self.0.tell(Method::POST, &["api", "users"], &[], add).await
    }

    /// What a user may do.
    pub async fn get(self, name: &UserName) -> Result<Answer<User>> {
        self.0.ask(Method::GET, &["api", "users", name.as_str()], &[]).await
    }

    /// Says what a user may do from now on.
    pub async fn set(self, name: &UserName, set: &UpdateUserRequest) -> Result<Answer<User>> {
        self.0.tell(Method::PUT, &["api", "users", name.as_str()], &[], set).await
    }

    /// Removes a user and all tokens of theirs.
    pub async fn remove(self, name: &UserName) -> Result<Answer<()>> {
        self.0.ask(Method::DELETE, &["api", "users", name.as_str()], &[]).await
    }

    /// Who we are.
    pub async fn whoami(self) -> Result<Answer<CallerIdentity>> {
        self.0.ask(Method::GET, &["api", "whoami"], &[]).await
    }
}
