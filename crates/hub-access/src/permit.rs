//! The permission for one request, which can end while the request is served.

use axum::extract::FromRequestParts;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStream, TryStreamExt, stream};
use http::request::Parts;
use protocol::{RuntimeId, SessionId, hub::Role};
use server::ProblemResponse;

use crate::{
    access_watch::AccessWatch,
    action::Action,
    policy::{Decision, RequestedAction, Visibility},
};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The permission of a caller to do something with a runtime, for as long as role, token and policy allow it.
#[derive(Clone)]
pub struct Permit {
    access: AccessWatch,
    runtime: RuntimeId,
    worker: Option<SessionId>,
    action: Action,
    required: Role,
    unredacted: UnredactedPart,
}

/// The part of a response that passes unchanged, so that the response must end when a rule hides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnredactedPart {
    /// Nothing.
    Nothing,
    /// The words of agents and people, but no absolute directories.
    Content,
    /// Everything.
    Everything,
}

/// The permit of a running request has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("permission was revoked")]
pub struct PermissionRevoked;

impl Permit {
    /// A permit for an action that needs a role, on a runtime and perhaps a worker of it. It is not checked yet.
    pub fn new(
        access: AccessWatch,
        (action, required): (Action, Role),
        (runtime, worker): (RuntimeId, Option<SessionId>),
    ) -> Self {
        Self { access, runtime, worker, action, required, unredacted: UnredactedPart::Nothing }
    }

    /// The same permit for a response that passes unchanged: it ends when anything is hidden from the caller.
    #[must_use]
    pub fn seeing_everything(self) -> Self {
        Self { unredacted: UnredactedPart::Everything, ..self }
    }

    /// The same permit for a response whose content passes unchanged: it ends when content is hidden from the caller.
    #[must_use]
    pub fn seeing_content(self) -> Self {
        Self { unredacted: UnredactedPart::Content, ..self }
    }

    /// The permit for another action of the same caller, with the same runtime and worker. It is not checked yet.
    pub(crate) fn for_action(&self, action: Action, required: Role) -> Self {
        Self { action, required, unredacted: UnredactedPart::Nothing, ..self.clone() }
    }

    /// The runtime and the worker, if there is one.
    pub(crate) fn worker(&self) -> Option<(&RuntimeId, &SessionId)> {
        Some((&self.runtime, self.worker.as_ref()?))
    }

    /// The caller and the policy that it depends on.
    pub fn access(&self) -> AccessWatch {
        self.access.clone()
    }

    /// Checks that the permit still holds.
    ///
    /// # Errors
    /// The reason, for the client, if it does not.
    pub fn check(&mut self) -> Result<(), String> {
        let (subject, policy) = self.access.now().ok_or_else(|| PermissionRevoked.to_string())?;
        let (runtime, worker) = (&self.runtime, self.worker.as_ref());
        let requested = match worker {
            Some(worker) if self.action.watches() => RequestedAction::Watch { runtime, worker },
            _ => {
                RequestedAction::Command { runtime, worker, action: self.action.name(), needs: self.required }
            }
        };
        if let Decision::Denied(reason) = policy.may(&subject, &requested) {
            return Err(reason);
        }
        let visibility = policy.visibility(&subject, &self.runtime);
        let is_visible = match self.unredacted {
            UnredactedPart::Nothing => true,
            UnredactedPart::Content => !visibility.hides_content(),
            UnredactedPart::Everything => matches!(visibility, Visibility::Full),
        };
        if is_visible { Ok(()) } else { Err(PermissionRevoked.to_string()) }
    }

    /// Waits until the permit no longer holds: the token is revoked or expires, the user is removed or loses the role, or
    /// another policy decides otherwise.
    pub async fn ended(mut self) {
        while self.check().is_ok() {
            self.access.changed().await;
        }
    }

    /// The stream for as long as the permit holds. Then it ends with an error, so that the client cannot take it for complete.
    pub fn cut<S>(self, pieces: S) -> impl Stream<Item = Result<Bytes, BoxError>> + Send + use<S>
    where
        S: TryStream<Ok = Bytes> + Send + 'static,
        S::Error: Into<BoxError>,
    {
        let pieces = Box::pin(pieces.map_err(Into::into).into_stream());
        stream::unfold(Some((pieces, Box::pin(self.ended()))), |still| async {
            let (mut pieces, mut ended) = still?;
            tokio::select! {
                biased;
                () = &mut ended => Some((Err(PermissionRevoked.into()), None)),
                piece = pieces.next() => Some((piece?, Some((pieces, ended)))),
            }
        })
    }
}

impl<S: Sync> FromRequestParts<S> for Permit {
    type Rejection = ProblemResponse;

    async fn from_request_parts(head: &mut Parts, _: &S) -> Result<Self, ProblemResponse> {
        // The guard inserts a permit wherever the route table requires a role in a runtime's workspace.
        head.extensions.get().cloned().ok_or_else(|| ProblemResponse::internal(&MissingPermit))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the request was not authorized")]
struct MissingPermit;
