//! Who answers the other side.

use async_trait::async_trait;
use protocol::relay::{EventFrame, Hello, RawJson, RelayError, Request};
use serde_json::{Map, Value};

use crate::Reply;

/// Who answers the other side.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// A device says who it is: what it is told in `relay.accepted`. Only the side that devices come to is asked, once.
    ///
    /// # Errors
    /// If the device is not accepted; it is told why and the connection is closed.
    async fn hello(&self, hello: Hello) -> Result<Map<String, Value>, Refused>;

    /// The other side asks for something. Many requests go on at once.
    ///
    /// When the request is cancelled [`Reply::cancelled`] is told: end soon, and only after what was started is gone. The
    /// other side then hears `cancelled`, whatever comes of it. Who takes too long is dropped.
    ///
    /// # Errors
    /// What the other side is to hear.
    async fn request(&self, request: Request, reply: &mut Reply) -> Result<RawJson, RelayError>;

    /// The other side says that something happened. It must not take long, as nothing else is heard meanwhile.
    fn event(&self, event: EventFrame);
}

/// Why a device is not accepted, for people; it must fit in 123 bytes or is cut.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);
