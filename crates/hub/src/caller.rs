//! Who asks.

use axum::extract::FromRequestParts;
use http::request::Parts;
use protocol::{TokenId, UserName, hub::Role};
use server::Refusal;

/// Who asks, as the gate found out by the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Who.
    pub user: UserName,
    /// By which token.
    pub token: TokenId,
    /// What they may do.
    pub role: Role,
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
