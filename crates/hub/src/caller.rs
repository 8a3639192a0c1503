//! Who asks.

use axum::extract::FromRequestParts;
use http::request::Parts;
use protocol::{RuntimeId, TokenId, UserName, hub::Role};
use server::Refusal;

/// Who asks, as the gate found out by the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) user: UserName,
    pub(crate) token: TokenId,
    /// What they may do.
    pub(crate) role: Role,
}

impl Caller {
    /// Whether they may know of a runtime and what waits in it. Everybody who is let in may.
    pub(crate) fn sees(&self, _: &RuntimeId) -> bool {
        self.role >= Role::Viewer
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(head: &mut Parts, _: &S) -> Result<Self, Refusal> {
        // The gate lets nobody in whom it does not know.
        head.extensions.get().cloned().ok_or_else(|| Refusal::internal(&NoCaller))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("nobody was found to ask")]
struct NoCaller;
