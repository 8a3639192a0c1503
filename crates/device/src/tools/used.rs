//! A tool of an MCP server.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use protocol::relay::{RelayError, RelayErrorCode, tool::ToolCallResult};
use rmcp::{
    RoleClient,
    model::{CallToolRequestParams, CallToolResponse, ErrorCode},
    service::{Peer, ServiceError},
};
use tokio::{sync::Notify, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{
    content,
    tool::{Tool, Use, cancelled, gone, late},
};

/// How much of what a server says of a failure is passed on.
const REASON_CHARS_MAX: usize = 500;

/// A tool of an MCP server.
pub(crate) struct OfServer {
    pub(crate) peer: Peer<RoleClient>,
    /// What it is called there.
    pub(crate) name: String,
    pub(crate) wait: Duration,
    /// Is told when the server cannot be reached.
    pub(crate) broken: Arc<Notify>,
}

#[async_trait]
impl Tool for OfServer {
    async fn call(&self, call: Use, cancel: &CancellationToken) -> Result<ToolCallResult, RelayError> {
        let params = CallToolRequestParams::new(self.name.clone()).with_arguments(call.arguments);
        // When it is dropped the server hears that it is cancelled.
        let asked = self.peer.call_tool_once(params);
        let answer = tokio::select! {
            () = cancel.cancelled() => return Err(cancelled()),
            () = sleep(self.wait) => return Err(late(self.wait)),
            answer = asked => answer,
        };
        match answer {
            Ok(CallToolResponse::Complete(result)) => Ok(content::of(result)),
            Ok(_) => Err(RelayError::new(
                RelayErrorCode::ProviderError,
                "the tool requested input (elicitation or sampling), which this device does not support",
            )),
            Err(ServiceError::McpError(error)) => {
                let code = match error.code {
                    ErrorCode::INVALID_PARAMS => RelayErrorCode::InvalidRequest,
                    _ => RelayErrorCode::ProviderError,
                };
                let reason: String = error.message.chars().take(REASON_CHARS_MAX).collect();
                Err(RelayError::new(code, format!("the tool failed: {reason}")))
            }
            Err(ServiceError::TransportClosed | ServiceError::TransportSend(_)) => {
                self.broken.notify_one();
                Err(gone())
            }
            Err(_) => Err(RelayError::new(
                RelayErrorCode::ProviderError,
                "the MCP server sent an unexpected result",
            )),
        }
    }
}
