//! Starts the agent of a test as an ACP instance.

use serde_json::json;

use super::{agent::Agent, talk::Talk};
use crate::agent_stage::AgentStage;

pub(super) type Stage = AgentStage<Agent>;

impl AgentStage<Agent> {
    pub(super) async fn new(agent: &'static Agent) -> Self {
        Self::start(agent, agent.home).await
    }

    /// Starts the agent as the instance `instance` and initializes it.
    pub(super) async fn talk(&self, instance: &str) -> Talk<'_> {
        let body = json!({
            "agent": self.agent.name, "cwd": self.project(), "env": self.env(), "args": self.setup.args,
        });
        let prepared = self.daemon.put(&format!("/v1/acp/{instance}"), &body).await;
        assert_eq!(prepared.status(), 201, "{:?}", prepared.text().await);
        Talk::start(&self.daemon, instance).await
    }
}
