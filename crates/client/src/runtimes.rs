//! `/api/runtimes`: the daemons that a hub knows, and their workers.

use protocol::{
    RuntimeId, SessionId,
    hub::{AddRuntimeRequest, CreateJoinTokenRequest, JoinToken, Runtime, RuntimeList},
    presence::WorkerPresence,
    sessions::SessionList,
};
use reqwest::Method;

use crate::{Answer, Client, Result, Watched};

/// The runtimes of a hub.
#[derive(Debug, Clone, Copy)]
pub struct Runtimes<'a>(pub(crate) &'a Client);

impl Runtimes<'_> {
    /// Every runtime.
    pub async fn list(self) -> Result<Answer<RuntimeList>> {
        self.0.ask(Method::GET, &["api", "runtimes"], &[]).await
    }

    /// Adds a runtime.
    pub async fn add(self, add: &AddRuntimeRequest) -> Result<Answer<Runtime>> {
        self.0.tell(Method::POST, &["api", "runtimes"], &[], add).await
    }

    /// Makes a token with which a daemon can join as a runtime.
    pub async fn invite(self, invite: &CreateJoinTokenRequest) -> Result<Answer<JoinToken>> {
        self.0.tell(Method::POST, &["api", "runtimes", "join-tokens"], &[], invite).await
    }

    /// How a runtime is.
    pub async fn get(self, id: &RuntimeId) -> Result<Answer<Runtime>> {
        self.0.ask(Method::GET, &["api", "runtimes", id.as_str()], &[]).await
    }

    /// Removes a runtime.
    pub async fn remove(self, id: &RuntimeId) -> Result<Answer<()>> {
        self.0.ask(Method::DELETE, &["api", "runtimes", id.as_str()], &[]).await
    }

    /// The workers of a runtime: its sessions.
    pub async fn workers(self, id: &RuntimeId) -> Result<Answer<SessionList>> {
        self.0.ask(Method::GET, &["api", "runtimes", id.as_str(), "workers"], &[]).await
    }

    /// Who is there for a worker.
    pub async fn presence(self, id: &RuntimeId, worker: &SessionId) -> Result<Answer<WorkerPresence>> {
        let segments = ["api", "runtimes", id.as_str(), "workers", worker.as_str(), "presence"];
        self.0.ask(Method::GET, &segments, &[]).await
    }

    /// Watches a worker: its snapshot, what happened after `cursor` if there is one, and what happens.
    pub async fn watch(self, id: &RuntimeId, worker: &SessionId, cursor: Option<&str>) -> Result<Watched> {
        let segments = ["api", "runtimes", id.as_str(), "workers", worker.as_str(), "events", "ws"];
        let request = self.0.request(Method::GET, &segments).query(&[("cursor", cursor)]);
        Watched::open(request).await
    }
}
