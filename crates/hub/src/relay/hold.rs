//! What a request is made under.

use std::{sync::Arc, time::Duration};

use protocol::relay::{Family, RelayError, RelayErrorCode};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::connection::Connection;

/// What a request is made under: what is granted, the connection with the device and its permission, and the time that there
/// is. When one of them ends, nothing more is done for the request.
pub(crate) struct Hold {
    pub(crate) connection: Arc<Connection>,
    /// Cancelled when less is granted.
    revoked: CancellationToken,
    /// Cancelled when the device loses the permission for the family.
    lost: CancellationToken,
    /// When whoever asks no longer waits, if they say so.
    pub(crate) deadline: Option<Instant>,
}

impl Hold {
    /// As it is now: what ends from now on is seen.
    pub(crate) fn new(
        connection: Arc<Connection>,
        family: Family,
        revoked: CancellationToken,
        deadline: Option<Instant>,
    ) -> Self {
        let lost = connection.permission(family);
        Self { connection, revoked, lost, deadline }
    }

    /// What comes of `future`, if all of it holds until then.
    ///
    /// # Errors
    /// What the request comes to if not: `permission_denied`, `relay_disconnected` or `timeout`.
    pub(crate) async fn or<T>(&self, future: impl Future<Output = T>) -> Result<T, RelayError> {
        self.check()?;
        tokio::select! {
            biased;
            value = future => self.check().map(|()| value),
            error = self.ends() => Err(error),
        }
    }

    fn check(&self) -> Result<(), RelayError> {
        if self.revoked.is_cancelled() || self.lost.is_cancelled() {
            return Err(taken_back());
        }
        if let Some(error) = self.connection.peer.ended() {
            return Err(error);
        }
        match self.deadline.is_some_and(|at| at <= Instant::now()) {
            true => Err(timed_out()),
            false => Ok(()),
        }
    }

    async fn ends(&self) -> RelayError {
        let in_time = async {
            match self.deadline {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.until_taken_back() => taken_back(),
            error = self.connection.peer.until_ended() => error,
            () = in_time => timed_out(),
        }
    }

    /// Waits until the request may not go on.
    pub(crate) async fn until_taken_back(&self) {
        tokio::select! {
            () = self.revoked.cancelled() => {}
            () = self.lost.cancelled() => {}
        }
    }

    /// What is cancelled when less is granted, and when the device loses the permission.
    pub(crate) fn ends_with(&self) -> (CancellationToken, CancellationToken) {
        (self.revoked.clone(), self.lost.clone())
    }

    /// How long whoever asks still waits, if they say so.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.deadline.map(|at| at.saturating_duration_since(Instant::now()))
    }
}

fn taken_back() -> RelayError {
    RelayError::new(RelayErrorCode::PermissionDenied, "the grant was revoked")
}

fn timed_out() -> RelayError {
    RelayError::new(RelayErrorCode::Timeout, "the request timed out")
}
