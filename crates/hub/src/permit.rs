//! What somebody was let in for, for as long as that holds.

use axum::extract::FromRequestParts;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStream, TryStreamExt, stream};
use http::request::Parts;
use protocol::{TokenId, Workspace, hub::Role};
use server::Refusal;

use crate::{people::People, standing::Standing};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What somebody was let in for: to have a role in a workspace, by a token.
#[derive(Clone)]
pub(crate) struct Permit {
    standing: Standing,
    workspace: Workspace,
    role: Role,
}

/// Somebody was let in, and is no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no longer allowed")]
pub(crate) struct Revoked;

impl Permit {
    pub(crate) fn new(people: &People, token: TokenId, workspace: Workspace, role: Role) -> Self {
        Self { standing: Standing::new(people, token), workspace, role }
    }

    /// Waits until it no longer holds: the token is revoked or expires, the user is removed or loses the role.
    pub(crate) async fn ended(mut self) {
        while self.holds() {
            self.standing.changed().await;
        }
    }

    fn holds(&mut self) -> bool {
        let role = self.standing.rights().and_then(|rights| rights.role_in(&self.workspace));
        role.is_some_and(|role| role >= self.role)
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
