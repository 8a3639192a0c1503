//! `/api/waits`: the open waits in all runtimes of a hub.

use protocol::{
    RuntimeId, WaitId,
    inbox::{InboxEvent, InboxWait, WaitInbox as Waiting},
    wait::{AnswerWaitRequest, Wait},
};
use reqwest::Method;

use crate::{ApiResponse, Client, JsonEventStream, Result};

/// The open waits in all runtimes of a hub.
#[derive(Debug, Clone, Copy)]
pub struct InboxApi<'a>(pub(crate) &'a Client);

impl InboxApi<'_> {
    /// Lists the open waits of all runtimes.
    pub async fn list(self) -> Result<ApiResponse<Waiting>> {
        self.0.call(Method::GET, &["api", "waits"], &[]).await
    }

    /// Reads one wait of any runtime, open or settled.
    pub async fn get(self, id: WaitId) -> Result<ApiResponse<InboxWait>> {
        self.0.call(Method::GET, &["api", "waits", &id.to_string()], &[]).await
    }

    /// Streams the changes of waits, starting with a snapshot of the open ones.
    pub async fn events(self) -> Result<JsonEventStream<InboxEvent>> {
        JsonEventStream::open(self.0.clone(), &["api", "waits", "events"]).await
    }

    /// Answers a wait of a runtime, and returns its final state.
    pub async fn answer(
        self,
        runtime: &RuntimeId,
        id: WaitId,
        reply: &AnswerWaitRequest,
    ) -> Result<ApiResponse<Wait>> {
        let segments = ["api", "waits", runtime.as_str(), &id.to_string()];
        self.0.call_with_body(Method::POST, &segments, &[], reply).await
    }
}
