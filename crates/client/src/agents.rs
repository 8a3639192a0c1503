//! `/v1/agents`: the programs that can be run.

use protocol::{
    AgentName,
    agents::{AgentInstalled, AgentList, AgentModeList, AgentModelList, InstallAgentRequest},
};
use reqwest::Method;

use crate::{Answer, Client, InstallEvents, Result, client::accepted};

/// The agents of a daemon.
#[derive(Debug, Clone, Copy)]
pub struct Agents<'a>(pub(crate) &'a Client);

impl Agents<'_> {
    /// Every agent that the daemon knows.
    pub async fn list(self) -> Result<Answer<AgentList>> {
        self.0.ask(Method::GET, &["v1", "agents"], &[]).await
    }

    /// Installs an agent, unless it is there already.
    pub async fn install(
        self,
        agent: &AgentName,
        options: &InstallAgentRequest,
    ) -> Result<Answer<AgentInstalled>> {
        self.0.tell(Method::POST, &["v1", "agents", agent.as_str(), "install"], &[], options).await
    }

    /// Installs an agent, unless it is there already, and follows that.
    pub async fn follow_install(
        self,
        agent: &AgentName,
        options: &InstallAgentRequest,
    ) -> Result<InstallEvents> {
        let request = self.0.request(Method::POST, &["v1", "agents", agent.as_str(), "install"]);
        let request = request.header("accept", "text/event-stream").json(options);
        Ok(InstallEvents::new(accepted(request).await?))
    }

    /// What an agent can be told to be.
    pub async fn modes(self, agent: &AgentName) -> Result<Answer<AgentModeList>> {
        self.0.ask(Method::GET, &["v1", "agents", agent.as_str(), "modes"], &[]).await
    }

    /// The models that an agent can use.
    pub async fn models(self, agent: &AgentName) -> Result<Answer<AgentModelList>> {
        self.0.ask(Method::GET, &["v1", "agents", agent.as_str(), "models"], &[]).await
    }
}
