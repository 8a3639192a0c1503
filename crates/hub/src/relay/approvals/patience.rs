//! How long somebody is waited for.

use std::time::Duration;

use protocol::relay::RelayErrorCode;
use tokio::time::{Instant, timeout_at};

use super::{Refused, refused};
use crate::relay::hold::Hold;

/// How long somebody is waited for, from when it is asked: while others are asked about the same, too. It ends before if what
/// the request is made under does.
pub(super) struct Patience<'a> {
    hold: &'a Hold,
    until: Instant,
}

impl<'a> Patience<'a> {
    pub(super) fn new(most: Duration, hold: &'a Hold) -> Self {
        Self { hold, until: Instant::now() + most }
    }

    /// What comes of `future`, if that is in time.
    pub(super) async fn or<T>(&self, future: impl Future<Output = T>) -> Result<T, Refused> {
        match timeout_at(self.until, self.hold.or(future)).await {
            Ok(outcome) => outcome.map_err(Refused::from),
            Err(_) => Err(refused(
                RelayErrorCode::ApprovalRequired,
                "the approval request expired without an answer",
                "expired",
            )),
        }
    }

    /// How long somebody still has.
    pub(super) fn left(&self) -> Duration {
        let left = self.until.saturating_duration_since(Instant::now());
        self.hold.left().map_or(left, |of_request| of_request.min(left))
    }

    /// Whether nobody is waited for any more, whatever the request is made under.
    pub(super) fn is_over(&self) -> bool {
        self.until <= Instant::now()
    }
}
