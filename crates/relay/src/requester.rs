//! Who can be asked.

use async_trait::async_trait;

use crate::{Ask, Call, Peer};

/// Who can be asked: one side of a connection, or something before it that looks at what is asked.
#[async_trait]
pub trait Requester: Send + Sync {
    /// Asks. Whatever goes wrong is the outcome of the call; who drops the call cancels it (relay #54).
    async fn request(&self, ask: Ask) -> Call;
}

#[async_trait]
impl Requester for Peer {
    async fn request(&self, ask: Ask) -> Call {
        Self::request(self, ask).await
    }
}
