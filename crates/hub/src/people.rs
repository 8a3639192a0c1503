//! Who may use the hub, and what they may do: users and tokens, in a file that only its owner can read.

mod state;

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use jiff::Timestamp;
use protocol::{
    TokenId, TokenName, UserName,
    people::{AccessToken, CreateTokenRequest, UpdateUserRequest, User},
};
use tokio::sync::watch;

use crate::{
    caller::Rights,
    secret::{NewToken, digest},
    state_file::StateFile,
};
pub(crate) use state::State;

/// What a token begins with.
const PREFIX: &str = "tombolo_";

/// How long a browser that has logged in stays so.
pub(crate) const SESSION: Duration = Duration::from_secs(24 * 60 * 60);

/// The users and their tokens. A clone is the same ones.
#[derive(Clone)]
pub(crate) struct People(StateFile<State>);

/// Why something cannot be done to users or tokens.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("could not write the users file")]
    File(#[source] io::Error),
    #[error("user `{0}` does not exist")]
    NoUser(UserName),
    #[error("user `{0}` already exists")]
    UserTaken(UserName),
    #[error("token {0} does not exist")]
    NoToken(TokenId),
    #[error("`{0}` is the last hub administrator; appoint another one first")]
    LastAdmin(UserName),
    #[error("the limit of {max} {what} is reached; remove some first")]
    Full { what: &'static str, max: usize },
    #[error("`expiresAt` must be in the future")]
    Expired,
    #[error("the token is unknown, expired or revoked")]
    NotLetIn,
}

impl People {
    /// Reads the file. If nobody has a token to manage the hub with, as the first time, one is made, which is shown once.
    pub(crate) fn open(path: PathBuf) -> io::Result<(Self, Option<NewToken>)> {
        let people = Self(StateFile::open(path)?);
        if people.now().can_be_managed(Timestamp::now()) {
            return Ok((people, None));
        }
        let new = NewToken::mint(PREFIX)?;
        let made = people.change(|state, now| {
            state.bootstrap(&new, now);
            Ok(())
        });
        made.map_err(|error| match error {
            Error::File(source) => source,
            other => io::Error::other(other),
        })?;
        Ok((people, Some(new)))
    }

    /// What whoever has this secret may do; nothing if it is no good.
    pub(crate) fn find(&self, secret: &str) -> Option<Rights> {
        self.now().find(&digest(secret), Timestamp::now())
    }

    /// What there is now, and word of each change.
    pub(crate) fn follow(&self) -> watch::Receiver<Arc<State>> {
        self.0.follow()
    }

    /// Every user, by name.
    pub(crate) fn users(&self) -> Vec<User> {
        self.now().users()
    }

    pub(crate) fn user(&self, name: &UserName) -> Result<User, Error> {
        self.now().user(name).cloned()
    }

    pub(crate) fn add_user(&self, name: UserName, set: UpdateUserRequest) -> Result<User, Error> {
        self.change(|state, now| state.add_user(name, set, now))
    }

    /// From now on they may do this and nothing else.
    pub(crate) fn set_user(&self, name: &UserName, set: UpdateUserRequest) -> Result<User, Error> {
        self.change(|state, _| state.set_user(name, set))
    }

    /// Their tokens go with them.
    pub(crate) fn remove_user(&self, name: &UserName) -> Result<(), Error> {
        self.change(|state, _| state.remove_user(name))
    }

    /// Every token of a user, the oldest first.
    pub(crate) fn tokens(&self, user: &UserName) -> Result<Vec<AccessToken>, Error> {
        self.now().tokens(user, Timestamp::now())
    }

    pub(crate) fn token(&self, id: TokenId) -> Result<AccessToken, Error> {
        self.now().token(id)
    }

    pub(crate) fn add_token(
        &self,
        user: &UserName,
        add: CreateTokenRequest,
    ) -> Result<(AccessToken, NewToken), Error> {
        let new = NewToken::mint(PREFIX).map_err(Error::File)?;
        let token = self.change(|state, now| state.add_token(user, add, &new, now))?;
        Ok((token, new))
    }

    /// It is no good from now on; nor is any that a browser got for it.
    pub(crate) fn revoke(&self, id: TokenId) -> Result<(), Error> {
        self.change(|state, _| state.revoke(id))
    }

    /// A token for the browser of whoever has this secret; it can do as much, and no longer than that.
    pub(crate) fn log_in(&self, secret: &str) -> Result<(Rights, NewToken), Error> {
        let new = NewToken::mint(PREFIX).map_err(Error::File)?;
        let rights = self.change(|state, now| state.log_in(&digest(secret), &new, now))?;
        Ok((rights, new))
    }

    fn now(&self) -> Arc<State> {
        self.0.now()
    }

    /// Changes something once that is written down; nothing if it cannot be.
    fn change<T>(&self, change: impl FnOnce(&mut State, Timestamp) -> Result<T, Error>) -> Result<T, Error> {
        self.0.change(Error::File, change)
    }
}

/// The name of a token that the hub made by itself.
fn called(name: &str) -> TokenName {
    name.parse().unwrap_or_else(|_| unreachable!("the name of a token"))
}

#[cfg(test)]
mod tests;
