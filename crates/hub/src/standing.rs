//! How somebody stands with the hub, for as long as they do.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use protocol::TokenId;
use tokio::{sync::watch, time::sleep};

use crate::{
    caller::Rights,
    people::{People, State},
};

/// How often the clock is looked at, which may be set to another time.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// What somebody may do with a token, as that changes.
#[derive(Clone)]
pub(crate) struct Standing {
    people: watch::Receiver<Arc<State>>,
    token: TokenId,
}

impl Standing {
    pub(crate) fn new(people: &People, token: TokenId) -> Self {
        Self { people: people.follow(), token }
    }

    /// What they may do now; nothing once the token is revoked or has expired, or the user is removed.
    pub(crate) fn rights(&mut self) -> Option<Rights> {
        // Nobody is left who could say.
        self.people.has_changed().ok()?;
        self.people.borrow_and_update().rights(self.token, Timestamp::now())
    }

    /// Waits until that may have changed. Cancel safe.
    pub(crate) async fn changed(&mut self) {
        let now = Timestamp::now();
        let Some(rights) = self.people.borrow().rights(self.token, now) else { return };
        let left = rights.token.expires_at.map(|at| now.duration_until(at).unsigned_abs());
        tokio::select! {
            _ = self.people.changed() => {}
            () = sleep(left.map_or(LOOK_AGAIN, |left| left.min(LOOK_AGAIN))) => {}
        }
    }
}
