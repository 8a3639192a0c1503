//! Something that can be used.

use std::time::Duration;

use async_trait::async_trait;
use protocol::relay::{
    RelayContext, RelayError, RelayErrorCode,
    tool::{ToolCallResult, ToolProgress},
};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How long a use of a tool may take if its owner says nothing else.
pub(crate) const USE_WAIT: Duration = Duration::from_secs(60);

/// The longest that an owner can say.
pub(crate) const USE_WAIT_MAX: Duration = Duration::from_secs(3600);

/// Something that can be used.
#[async_trait]
pub(crate) trait Tool: Send + Sync {
    /// Uses it. When it is cancelled it ends soon with `cancelled`, and only after what was started is gone.
    ///
    /// # Errors
    /// What the other side is to hear.
    async fn call(&self, call: Use, cancel: &CancellationToken) -> Result<ToolCallResult, RelayError>;
}

/// One use of a tool.
#[derive(Debug)]
pub(crate) struct Use {
    /// What for; it fits the schema of the tool.
    pub(crate) arguments: Map<String, Value>,
    /// For whom.
    pub(crate) context: Option<RelayContext>,
    /// Where the tool says how far it is. It drops what does not fit: progress may be skipped, and must not slow a tool down.
    pub(crate) progress: mpsc::Sender<ToolProgress>,
}

pub(crate) fn cancelled() -> RelayError {
    RelayError::new(RelayErrorCode::Cancelled, "the tool call was cancelled")
}

pub(crate) fn late(wait: Duration) -> RelayError {
    let limit = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
    RelayError::new(RelayErrorCode::Timeout, "the tool exceeded its timeout").with("limit", limit)
}

/// It was there a moment ago.
pub(crate) fn gone() -> RelayError {
    RelayError::new(RelayErrorCode::CapabilityUnavailable, "the tool is no longer available")
}
