//! `/v1/waits`: questions and permissions that wait for a person.

use protocol::{
    WaitId,
    wait::{AnswerWaitRequest, Wait, WaitEvent, WaitList},
};
use reqwest::Method;

use crate::{ApiResponse, Client, JsonEventStream, Result};

/// The waits of a daemon.
#[derive(Debug, Clone, Copy)]
pub struct WaitsApi<'a>(pub(crate) &'a Client);

impl WaitsApi<'_> {
    /// Lists the open waits of all sessions.
    pub async fn list(self) -> Result<ApiResponse<WaitList>> {
        self.0.call(Method::GET, &["v1", "waits"], &[]).await
    }

    /// Reads one wait, open or settled.
    pub async fn get(self, id: WaitId) -> Result<ApiResponse<Wait>> {
        self.0.call(Method::GET, &["v1", "waits", &id.to_string()], &[]).await
    }

    /// Streams the changes of waits, starting with a snapshot of the open ones.
    pub async fn events(self) -> Result<JsonEventStream<WaitEvent>> {
        JsonEventStream::open(self.0.clone(), &["v1", "waits", "events"]).await
    }

    /// Answers a wait, and returns its final state.
    pub async fn answer(self, id: WaitId, reply: &AnswerWaitRequest) -> Result<ApiResponse<Wait>> {
        self.0.call_with_body(Method::POST, &["v1", "waits", &id.to_string()], &[], reply).await
    }
}
