//! The rights of a token, followed while they can change.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use protocol::TokenId;
use tokio::{sync::watch, time::sleep};

use crate::{
    principal::EffectiveRights,
    user_store::{UserDirectory, UserStore},
};

/// How often the expiry is compared with the clock, which an administrator may set to another time.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// The rights of a token. They change with the user's roles, and end when the token expires or is revoked.
#[derive(Clone)]
pub struct RightsWatch {
    users: watch::Receiver<Arc<UserDirectory>>,
    token: TokenId,
}

impl RightsWatch {
    /// Follows the rights of a token.
    pub fn new(users: &UserStore, token: TokenId) -> Self {
        Self { users: users.follow(), token }
    }

    /// The current rights; `None` once the token is revoked or has expired, or the user is removed.
    pub fn current(&mut self) -> Option<EffectiveRights> {
        // Fails if the store is gone: the hub is shutting down.
        self.users.has_changed().ok()?;
        self.users.borrow_and_update().rights(self.token, Timestamp::now())
    }

    /// Whether users or tokens were changed since [`Self::current`].
    pub fn has_changed(&self) -> bool {
        self.users.has_changed().unwrap_or(false)
    }

    /// Waits until the rights may have changed. Cancel safe.
    pub async fn changed(&mut self) {
        let now = Timestamp::now();
        let Some(rights) = self.users.borrow().rights(self.token, now) else { return };
        let left = rights.token.expires_at.map(|at| now.duration_until(at).unsigned_abs());
        tokio::select! {
            _ = self.users.changed() => {}
            () = sleep(left.map_or(LOOK_AGAIN, |left| left.min(LOOK_AGAIN))) => {}
        }
    }
}
