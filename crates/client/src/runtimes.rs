//! `/api/runtimes`: the daemons of a hub, and their sessions.

use protocol::{
    RuntimeId, SessionId,
    hub::{AddRuntimeRequest, CreateJoinTokenRequest, JoinToken, Runtime, RuntimeList},
    presence::WorkerPresence,
    sessions::SessionList,
    worker_actions::WorkerDetails,
};
use reqwest::Method;

use crate::{ApiResponse, Client, Result, WorkerStream};

/// The runtimes of a hub.
#[derive(Debug, Clone, Copy)]
pub struct RuntimesApi<'a>(pub(crate) &'a Client);

impl RuntimesApi<'_> {
    /// Lists all runtimes.
    pub async fn list(self) -> Result<ApiResponse<RuntimeList>> {
        self.0.call(Method::GET, &["api", "runtimes"], &[]).await
    }

    /// Adds a runtime.
    pub async fn add(self, add: &AddRuntimeRequest) -> Result<ApiResponse<Runtime>> {
        self.0.call_with_body(Method::POST, &["api", "runtimes"], &[], add).await
    }

    /// Creates a token with which a daemon joins as a runtime.
    pub async fn invite(self, invite: &CreateJoinTokenRequest) -> Result<ApiResponse<JoinToken>> {
        self.0.call_with_body(Method::POST, &["api", "runtimes", "join-tokens"], &[], invite).await
    }

    /// Reads one runtime.
    pub async fn get(self, id: &RuntimeId) -> Result<ApiResponse<Runtime>> {
        self.0.call(Method::GET, &["api", "runtimes", id.as_str()], &[]).await
    }

    /// Removes a runtime.
    pub async fn remove(self, id: &RuntimeId) -> Result<ApiResponse<()>> {
        self.0.call(Method::DELETE, &["api", "runtimes", id.as_str()], &[]).await
    }

    /// Lists the workers of a runtime, which are its sessions.
    pub async fn workers(self, id: &RuntimeId) -> Result<ApiResponse<SessionList>> {
        self.0.call(Method::GET, &["api", "runtimes", id.as_str(), "workers"], &[]).await
    }

    /// Reads a session, and what the caller may do with it.
    pub async fn worker(self, id: &RuntimeId, worker: &SessionId) -> Result<ApiResponse<WorkerDetails>> {
        let segments = ["api", "runtimes", id.as_str(), "workers", worker.as_str()];
        self.0.call(Method::GET, &segments, &[]).await
    }

    /// Reads who is present in a session.
    pub async fn presence(self, id: &RuntimeId, worker: &SessionId) -> Result<ApiResponse<WorkerPresence>> {
        let segments = ["api", "runtimes", id.as_str(), "workers", worker.as_str(), "presence"];
        self.0.call(Method::GET, &segments, &[]).await
    }

    /// Observes a session: its snapshot, the events after `cursor` if given, and new events.
    pub async fn watch(
        self,
        id: &RuntimeId,
        worker: &SessionId,
        cursor: Option<&str>,
    ) -> Result<WorkerStream> {
        let segments = ["api", "runtimes", id.as_str(), "workers", worker.as_str(), "events", "ws"];
        let request = self.0.request(Method::GET, &segments).query(&[("cursor", cursor)]);
        WorkerStream::open(request).await
    }
}
