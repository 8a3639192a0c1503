//! What a message to an agent comes to.

use std::time::Duration;

use bytes::Bytes;
use journal::Seq;

/// How a request is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// With the agent's response, if it comes within this time.
    Within(Duration),
    /// At once; the response is on the stream only.
    Async,
}

/// What a message to an agent came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The agent's response, and its place on the stream.
    Response {
        /// The place on the stream.
        seq: Seq,
        /// The response, byte for byte.
        body: Bytes,
    },
    /// The message was handed to the agent; there is nothing to wait for.
    Accepted,
}
