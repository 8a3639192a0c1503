//! The users of the hub and their tokens, in a file that only its owner can read.

mod directory;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use protocol::{
    TokenId, TokenName, UserName,
    people::{AccessToken, CreateTokenRequest, UpdateUserRequest, User},
};
use tokio::sync::watch;

use crate::{
    principal::EffectiveRights,
    recovered_token,
    secret::{NewToken, token_digest},
    state_file::StateFile,
};
pub(crate) use directory::UserDirectory;

/// The first characters of every token, so that a leaked one can be recognised.
pub(crate) const TOKEN_PREFIX: &str = "tombolo_";

/// How long a browser stays logged in.
pub const BROWSER_SESSION_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The users and their tokens. Clones share them.
#[derive(Clone)]
pub struct UserStore {
    state: StateFile<UserDirectory>,
    path: Arc<Path>,
}

/// A failed change or lookup of users or tokens.
#[derive(Debug, thiserror::Error)]
pub enum UserStoreError {
    /// The file could not be written; nothing was changed.
    #[error("could not write the users file")]
    File(#[source] io::Error),
    /// There is no user of this name.
    #[error("user `{0}` does not exist")]
    NoUser(UserName),
    /// There is a user of this name.
    #[error("user `{0}` already exists")]
    UserTaken(UserName),
    /// There is no token with this id.
    #[error("token {0} does not exist")]
    NoToken(TokenId),
    /// Without this user, the hub would have no administrator.
    #[error("`{0}` is the last hub administrator; appoint another one first")]
    LastAdmin(UserName),
    /// There are too many users or tokens.
    #[error("the limit of {max} {what} is reached; remove some first")]
    Full {
        /// The things that there are too many of, in the plural.
        what: &'static str,
        /// The limit.
        max: usize,
    },
    /// The new token would have expired already.
    #[error("`expiresAt` must be in the future")]
    Expired,
    /// The token cannot be used.
    #[error("the token is unknown, expired or revoked")]
    NotLetIn,
}

impl UserStore {
    /// Reads the file. If no administrator has a token, as on the first start, one is created and returned; it cannot be
    /// read again later.
    pub fn open(path: PathBuf) -> io::Result<(Self, Option<NewToken>)> {
        let people = Self { path: path.as_path().into(), state: StateFile::open(path)? };
        if people.now().can_be_managed(Timestamp::now()) {
            return Ok((people, None));
        }
        let new = NewToken::mint(TOKEN_PREFIX)?;
        let made = people.change(|state, now| {
            state.add_admin_token(&new.digest(), "bootstrap", now);
            Ok(())
        });
        made.map_err(|error| match error {
            UserStoreError::File(source) => source,
            other => io::Error::other(other),
        })?;
        Ok((people, Some(new)))
    }

    /// The rights of the token with this secret; `None` if it is unknown, expired or revoked.
    pub fn find(&self, secret: &str) -> Option<EffectiveRights> {
        self.now().find(&token_digest(secret), Timestamp::now())
    }

    /// When the token with this secret expired; `None` if it is valid, or unknown, as long expired ones are.
    pub fn expired_at(&self, secret: &str) -> Option<Timestamp> {
        self.now().expired_at(&token_digest(secret), Timestamp::now())
    }

    /// Accepts a token that [`recover_token`](crate::recover_token) created, when it is used for the first time. Returns its
    /// rights, which are those of an administrator; `None` if it is no such token.
    pub fn adopt_recovered(&self, secret: &str) -> Result<Option<EffectiveRights>, UserStoreError> {
        if !recovered_token::take(&self.path, secret) {
            return Ok(None);
        }
        let digest = token_digest(secret);
        self.change(|state, now| {
            state.add_admin_token(&digest, "recovered", now);
            Ok(state.find(&digest, now))
        })
    }

    /// The current users and tokens, and a notification of each change.
    pub fn follow(&self) -> watch::Receiver<Arc<UserDirectory>> {
        self.state.follow()
    }

    /// Lists the users, by name.
    pub fn users(&self) -> Vec<User> {
        self.now().users()
    }

    /// Finds a user.
    pub fn user(&self, name: &UserName) -> Result<User, UserStoreError> {
        self.now().user(name).cloned()
    }

    /// Adds a user, who has no token yet.
    pub fn add_user(&self, name: UserName, set: UpdateUserRequest) -> Result<User, UserStoreError> {
        self.change(|state, now| state.add_user(name, set, now))
    }

    /// Replaces the roles of a user.
    pub fn set_user(&self, name: &UserName, set: UpdateUserRequest) -> Result<User, UserStoreError> {
        self.change(|state, _| state.set_user(name, set))
    }

    /// Removes a user and their tokens.
    pub fn remove_user(&self, name: &UserName) -> Result<(), UserStoreError> {
        self.change(|state, _| state.remove_user(name))
    }

    /// Lists the tokens of a user, the oldest first.
    pub fn tokens(&self, user: &UserName) -> Result<Vec<AccessToken>, UserStoreError> {
        self.now().tokens(user, Timestamp::now())
    }

    /// Finds a token by its id.
    pub fn token(&self, id: TokenId) -> Result<AccessToken, UserStoreError> {
        self.now().token(id)
    }

    /// Creates a token. Its secret is returned once and only its digest is stored.
    pub fn add_token(
        &self,
        user: &UserName,
        add: CreateTokenRequest,
    ) -> Result<(AccessToken, NewToken), UserStoreError> {
        let new = NewToken::mint(TOKEN_PREFIX).map_err(UserStoreError::File)?;
        let token = self.change(|state, now| state.add_token(user, add, &new, now))?;
        Ok((token, new))
    }

    /// Revokes a token and the browser sessions that were started with it.
    pub fn revoke(&self, id: TokenId) -> Result<(), UserStoreError> {
        self.change(|state, _| state.revoke(id))
    }

    /// Starts a browser session with the token of this secret. The session has the token's rights and ends no later.
    pub fn log_in(&self, secret: &str) -> Result<(EffectiveRights, NewToken), UserStoreError> {
        let new = NewToken::mint(TOKEN_PREFIX).map_err(UserStoreError::File)?;
        let rights = self.change(|state, now| state.log_in(&token_digest(secret), &new, now))?;
        Ok((rights, new))
    }

    fn now(&self) -> Arc<UserDirectory> {
        self.state.now()
    }

    /// Applies a change once it is in the file; if it cannot be written, nothing changes.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut UserDirectory, Timestamp) -> Result<T, UserStoreError>,
    ) -> Result<T, UserStoreError> {
        self.state.change(UserStoreError::File, change)
    }
}

/// The name of a token that the hub creates by itself.
fn token_name(name: &str) -> TokenName {
    name.parse().unwrap_or_else(|_| unreachable!("the name of a token"))
}

#[cfg(test)]
mod tests;
