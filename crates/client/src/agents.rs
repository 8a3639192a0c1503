//! `/v1/agents`: the known agents, and their installation.

use protocol::{
    AgentName,
    agents::{AgentInstalled, AgentList, AgentModeList, AgentModelList, InstallAgentRequest},
};
use reqwest::Method;

use crate::{ApiResponse, Client, InstallEvents, Result, client::send_checked};

/// The agents of a daemon.
#[derive(Debug, Clone, Copy)]
pub struct AgentsApi<'a>(pub(crate) &'a Client);

impl AgentsApi<'_> {
    /// Lists all known agents.
    pub async fn list(self) -> Result<ApiResponse<AgentList>> {
        self.0.call(Method::GET, &["v1", "agents"], &[]).await
    }

    /// Installs an agent, unless it is installed already.
    pub async fn install(
        self,
        agent: &AgentName,
        options: &InstallAgentRequest,
    ) -> Result<ApiResponse<AgentInstalled>> {
        self.0.call_with_body(Method::POST, &["v1", "agents", agent.as_str(), "install"], &[], options).await
    }

    /// Installs an agent, unless it is installed already, and streams the progress.
    pub async fn follow_install(
        self,
        agent: &AgentName,
        options: &InstallAgentRequest,
    ) -> Result<InstallEvents> {
        let request = self.0.request(Method::POST, &["v1", "agents", agent.as_str(), "install"]);
        let request = request.header("accept", "text/event-stream").json(options);
        Ok(InstallEvents::new(send_checked(request).await?))
    }

    /// Lists the modes that sessions of an agent accept in a directory, the daemon's own if none is given.
    pub async fn modes(
        self,
        agent: &AgentName,
        directory: Option<&str>,
    ) -> Result<ApiResponse<AgentModeList>> {
        self.0
            .call(Method::GET, &["v1", "agents", agent.as_str(), "modes"], &[("directory", directory)])
            .await
    }

    /// Lists the models that an agent can use in a directory, the daemon's own if none is given.
    pub async fn models(
        self,
        agent: &AgentName,
        directory: Option<&str>,
    ) -> Result<ApiResponse<AgentModelList>> {
        self.0
            .call(Method::GET, &["v1", "agents", agent.as_str(), "models"], &[("directory", directory)])
            .await
    }
}
