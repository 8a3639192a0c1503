//! What somebody was let in for, for as long as that holds.

use std::{sync::Arc, time::Duration};

use axum::extract::FromRequestParts;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStream, TryStreamExt, stream};
use http::request::Parts;
use jiff::Timestamp;
use protocol::{TokenId, Workspace, hub::Role};
use server::Refusal;
use tokio::{sync::watch, time::sleep};

use crate::people::{People, State};

/// How often the clock is looked at, which may be set to another time.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What somebody was let in for: to have a role in a workspace, by a token.
#[derive(Clone)]
pub(crate) struct Permit {
    people: watch::Receiver<Arc<State>>,
    token: TokenId,
    workspace: Workspace,
    role: Role,
}

/// Somebody was let in, and is no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no longer allowed")]
pub(crate) struct Revoked;

impl Permit {
    pub(crate) fn new(people: &People, token: TokenId, workspace: Workspace, role: Role) -> Self {
        Self { people: people.follow(), token, workspace, role }
    }

    /// Waits until it no longer holds: the token is revoked or expires, the user is removed or loses the role.
    pub(crate) async fn ended(mut self) {
        while let Some(long) = self.holds_for() {
            tokio::select! {
                changed = self.people.changed() => if changed.is_err() { return },
                () = sleep(long) => {}
            }
        }
    }

    /// For how long it holds, as far as is known now.
    fn holds_for(&mut self) -> Option<Duration> {
        let now = Timestamp::now();
        let rights = self.people.borrow_and_update().rights(self.token, now)?;
        rights.role_in(&self.workspace).filter(|role| *role >= self.role)?;
        let left = rights.token.expires_at.map(|at| now.duration_until(at).unsigned_abs());
        Some(left.map_or(LOOK_AGAIN, |left| left.min(LOOK_AGAIN)))
    }

    /// The stream for as long as this holds; then it is cut off, which is not how it would have ended.
    pub(crate) fn cut<S>(self, pieces: S) -> impl Stream<Item = Result<Bytes, BoxError>> + Send + use<S>
    where
        S: TryStream<Ok = Bytes> + Send + 'static,
        S::Error: Into<BoxError>,
    {
        let pieces = Box::pin(pieces.map_err(Into::into).into_stream());
        stream::unfold(Some((pieces, Box::pin(self.ended()))), |still| async {
            let (mut pieces, mut ended) = still?;
            tokio::select! {
                biased;
                () = &mut ended => Some((Err(Revoked.into()), None)),
                piece = pieces.next() => Some((piece?, Some((pieces, ended)))),
            }
        })
    }
}

impl<S: Sync> FromRequestParts<S> for Permit {
    type Rejection = Refusal;

    async fn from_request_parts(head: &mut Parts, _: &S) -> Result<Self, Refusal> {
        // The guard leaves one wherever a role is needed.
        head.extensions.get().cloned().ok_or_else(|| Refusal::internal(&NoPermit))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("there is no permit for this request")]
struct NoPermit;
