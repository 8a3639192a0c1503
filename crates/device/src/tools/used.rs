//! A tool of an MCP server.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use protocol::relay::{
    RelayError, RelayErrorCode,
    tool::{ToolCallResult, ToolProgress},
};
use rmcp::{
    RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, ProgressNotificationParam,
        ServerResult,
    },
    service::{Peer, PeerRequestOptions, RequestHandle, ServiceError},
};
use tokio::{
    sync::{Notify, broadcast, mpsc},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    content,
    tool::{Tool, Use, cancelled, gone, late},
};

/// How much of what a server says of a failure is passed on.
const REASON_CHARS_MAX: usize = 500;

/// How long a server may take to hear that a call is cancelled.
const CANCEL_WAIT_MAX: Duration = Duration::from_secs(1);

/// A tool of an MCP server.
pub(crate) struct OfServer {
    pub(crate) peer: Peer<RoleClient>,
    /// What it is called there.
    pub(crate) name: String,
    pub(crate) wait: Duration,
    /// Is told when the server cannot be reached.
    pub(crate) broken: Arc<Notify>,
    /// What the server tells of the progress of all its calls.
    pub(crate) progress: broadcast::Sender<ProgressNotificationParam>,
}

#[async_trait]
impl Tool for OfServer {
    async fn call(&self, call: Use, cancel: &CancellationToken) -> Result<ToolCallResult, RelayError> {
        let params = CallToolRequestParams::new(self.name.clone()).with_arguments(call.arguments);
        let mut asked = None;
        let answer = tokio::select! {
            () = cancel.cancelled() => Err(cancelled()),
            () = sleep(self.wait) => Err(late(self.wait)),
            answer = self.ask(params, &call.progress, &mut asked) => Ok(answer),
        };
        if let (Err(_), Some(asked)) = (&answer, asked) {
            let _ = timeout(CANCEL_WAIT_MAX, asked.cancel(None)).await;
        }
        match answer? {
            Ok(ServerResult::CallToolResult(result)) => Ok(content::of(result)),
            Ok(ServerResult::InputRequiredResult(_) | ServerResult::CreateTaskResult(_)) => {
                Err(RelayError::new(
                    RelayErrorCode::ProviderError,
                    "the tool requested input (elicitation or sampling), which this device does not support",
                ))
            }
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
            Ok(_) | Err(_) => Err(RelayError::new(
                RelayErrorCode::ProviderError,
                "the MCP server sent an unexpected result",
            )),
        }
    }
}

impl OfServer {
    /// Calls the tool, and passes its progress on. Until there is an answer, `asked` is the request.
    async fn ask(
        &self,
        params: CallToolRequestParams,
        progress: &mpsc::Sender<ToolProgress>,
        asked: &mut Option<RequestHandle<RoleClient>>,
    ) -> Result<ServerResult, ServiceError> {
        // Before the call, so that no report falls in between.
        let mut told = self.progress.subscribe();
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let handle = asked.insert(self.peer.send_cancellable_request(request, options).await?);
        let token = handle.progress_token.clone();
        let pass_on = |report: ProgressNotificationParam| {
            if report.progress_token == token {
                let ProgressNotificationParam { progress: done, total, message, .. } = report;
                let _ = progress.try_send(ToolProgress { progress: done, total, message });
            }
        };
        let answer = loop {
            tokio::select! {
                report = told.recv() => {
                    // An error means that some were skipped. The channel is never closed, as `self` has a sender.
                    if let Ok(report) = report {
                        pass_on(report);
                    }
                }
                answer = &mut handle.rx => break answer,
            }
        };
        while let Ok(report) = told.try_recv() {
            pass_on(report);
        }
        answer.map_err(|_| ServiceError::TransportClosed)?
    }
}
