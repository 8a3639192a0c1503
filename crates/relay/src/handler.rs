//! Handles the requests of the peer.

use async_trait::async_trait;
use protocol::relay::{EventFrame, Hello, RawJson, RelayError, Request};
use serde_json::{Map, Value};

use crate::Reply;

/// Handles the requests of the peer.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// Accepts a device and returns the payload of `relay.accepted`. It is called once, on the server's side only.
    ///
    /// # Errors
    /// If the device is not accepted. The connection is closed with that reason.
    async fn hello(&self, hello: Hello) -> Result<Map<String, Value>, Refused>;

    /// Handles a request. Many requests run at once.
    ///
    /// [`Reply::cancelled`] returns when the request is cancelled. Return soon then, but only after everything that the request has
    /// started has ended. The peer gets `cancelled`, whatever the result is. A future that takes too long is dropped.
    ///
    /// # Errors
    /// The error for the peer.
    async fn request(&self, request: Request, reply: &mut Reply) -> Result<RawJson, RelayError>;

    /// Handles an event of the peer. It must not block, because no other message is read meanwhile.
    fn event(&self, event: EventFrame);
}

/// Why a device is not accepted, for people. It is cut to 123 bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);
