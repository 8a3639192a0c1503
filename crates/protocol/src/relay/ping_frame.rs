//! Liveness checks.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ping, or the pong that repeats its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PingFrame {
    /// Identifies the ping.
    pub id: String,
    /// Time of the ping by the clock of its sender. Stays a string so that the pong repeats it byte for byte.
    pub ts: String,
}

impl PingFrame {
    /// Creates a ping with the current time.
    pub fn now(id: impl Into<String>) -> Self {
        Self { id: id.into(), ts: Timestamp::now().to_string() }
    }
}
