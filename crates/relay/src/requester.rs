//! A receiver of requests.

use async_trait::async_trait;

use crate::{Ask, Call, Peer};

/// A receiver of requests: one side of a connection, or code before it that checks them.
#[async_trait]
pub trait Requester: Send + Sync {
    /// Sends a request. Every failure is an outcome of the call; dropping the call cancels it.
    async fn request(&self, ask: Ask) -> Call;

    /// Whether to request file contents as binary messages. A receiver further on may still refuse that.
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
