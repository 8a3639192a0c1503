//! What somebody was let in for, for as long as that holds.

use axum::extract::FromRequestParts;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStream, TryStreamExt, stream};
use http::request::Parts;
use protocol::{RuntimeId, SessionId, hub::Role};
use server::ProblemResponse;

use crate::{
    eye::Eye,
    policy::{Sight, Verdict, What},
    verb::Verb,
};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What somebody was let in for, as the policy decides.
#[derive(Clone)]
pub(crate) struct Permit {
    eye: Eye,
    runtime: RuntimeId,
    worker: Option<SessionId>,
    verb: &'static Verb,
    needs: Role,
    /// It is only good while they see everything.
    sees_everything: bool,
}

/// Somebody was let in, and is no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("permission was revoked")]
pub(crate) struct Revoked;

impl Permit {
    /// For somebody to do something, which is meant for those who have a role, with a runtime and perhaps a worker of it.
    pub(crate) fn new(
        eye: Eye,
        (verb, needs): (&'static Verb, Role),
        (runtime, worker): (RuntimeId, Option<SessionId>),
    ) -> Self {
        Self { eye, runtime, worker, verb, needs, sees_everything: false }
    }

    /// The same, for what cannot be shown in part.
    #[must_use]
    pub(crate) fn seeing_everything(self) -> Self {
        Self { sees_everything: true, ..self }
    }

    /// Whose it is.
    pub(crate) fn eye(&self) -> Eye {
        self.eye.clone()
    }

    /// Whether it holds now; if not, why.
    pub(crate) fn check(&mut self) -> Result<(), String> {
        let (who, policy) = self.eye.now().ok_or_else(|| Revoked.to_string())?;
        let (runtime, worker) = (&self.runtime, self.worker.as_ref());
        let what = match worker {
            Some(worker) if self.verb.watches() => What::Watch { runtime, worker },
            _ => What::Command { runtime, worker, verb: self.verb.name, needs: self.needs },
        };
        if let Verdict::Denied(reason) = policy.may(&who, &what) {
            return Err(reason);
        }
        match self.sees_everything && !matches!(policy.sight(&who, &self.runtime), Sight::Whole) {
            true => Err(Revoked.to_string()),
            false => Ok(()),
        }
    }

    /// Waits until it no longer holds: the token is revoked or expires, the user is removed or loses the role, or another
    /// policy decides otherwise.
    pub(crate) async fn ended(mut self) {
        while self.check().is_ok() {
            self.eye.changed().await;
        }
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
    type Rejection = ProblemResponse;

    async fn from_request_parts(head: &mut Parts, _: &S) -> Result<Self, ProblemResponse> {
        // The guard leaves one wherever a role is needed.
        head.extensions.get().cloned().ok_or_else(|| ProblemResponse::internal(&NoPermit))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the request was not authorized")]
struct NoPermit;
