//! Who can be asked.

use async_trait::async_trait;

use crate::{Ask, Call, Peer};

/// Who can be asked: one side of a connection, or something before it that looks at what is asked.
#[async_trait]
pub trait Requester: Send + Sync {
    /// Asks. Whatever goes wrong is the outcome of the call; who drops the call cancels it.
    async fn request(&self, ask: Ask) -> Call;

    /// Whether it is worth asking for the bytes of a file in a binary message; who is behind it may refuse that all the same.
    fn takes_bytes(&self) -> bool {
        false
    }
}

#[async_trait]
impl Requester for Peer {
    async fn request(&self, ask: Ask) -> Call {
        Self::request(self, ask).await
    }

    fn takes_bytes(&self) -> bool {
        Self::takes_bytes(self)
    }
}
