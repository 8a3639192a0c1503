//! A message from a client to an agent, and the outcome of sending it.

use std::time::Duration;

use bytes::Bytes;
use journal::Seq;
use protocol::{AgentName, IdempotencyKey};

/// A message from a client to an agent.
#[derive(Debug, Clone)]
pub struct OutgoingMessage {
    /// One JSON-RPC message.
    pub body: Bytes,
    /// The agent to start if the instance does not run yet. It must match the agent of an existing instance.
    pub agent: Option<AgentName>,
    /// Whether to wait for the response, if the message is a request.
    pub response_mode: ResponseMode,
    /// Makes it safe to send the message again.
    pub idempotency_key: Option<IdempotencyKey>,
    /// If this message creates the instance: delete the instance after this long without readers and messages in
    /// progress. `None` keeps it until a client deletes it.
    pub linger: Option<Duration>,
}

/// When the sender of a request gets its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseMode {
    /// When the agent responds, or with [`Error::Timeout`](crate::Error::Timeout) after this time.
    Wait(Duration),
    /// Immediately. The agent's response appears on the event stream only.
    Async,
}

impl ResponseMode {
    /// Shortens the time that is left to wait for the response.
    pub(crate) fn deduct(&mut self, elapsed: Duration) {
        if let Self::Wait(time) = self {
            *time = time.saturating_sub(elapsed);
        }
    }
}

/// The result of a message that was sent.
#[derive(Debug, Clone, PartialEq)]
pub enum SendOutcome {
    /// The agent's response.
    Response {
        /// The position of the response on the event stream.
        seq: Seq,
        /// The response, byte for byte.
        body: Bytes,
    },
    /// The message was written to the agent's input, and there is no response to wait for.
    Accepted,
}
