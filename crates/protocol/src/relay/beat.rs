//! Whether the peer is there.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the peer is there, and that it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Beat {
    /// Which question.
    pub id: String,
    /// When it was asked, by the clock of who asked and in its spelling, as the answer says the same.
    pub ts: String,
}

impl Beat {
    /// A question that is asked now.
    pub fn now(id: impl Into<String>) -> Self {
        Self { id: id.into(), ts: Timestamp::now().to_string() }
    }
}
