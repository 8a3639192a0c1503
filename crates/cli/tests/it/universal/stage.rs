//! Creates a session with the agent of a test.

use serde_json::{Value, json};

use super::{agent::Agent, chat::Chat};
use crate::agent_stage::AgentStage;

pub(super) type Stage = AgentStage<Agent>;

impl AgentStage<Agent> {
    pub(super) async fn new(agent: &'static Agent) -> Self {
        Self::start(agent, agent.home).await
    }

    /// The request that creates a session, with the fields of `more`.
    pub(super) fn create_request(&self, more: &Value) -> Value {
        let mut create_request =
            json!({ "agent": self.agent.name, "directory": self.project(), "env": self.env() });
        if let Some(model) = self.agent.model {
            create_request["model"] = model.into();
        }
        for (name, value) in more.as_object().expect("an object") {
            create_request[name] = value.clone();
        }
        create_request
    }

    /// Creates a session and checks that its agent has started.
    pub(super) async fn chat(&self, more: &Value) -> Chat<'_> {
        let created = self.create(more).await;
        assert_eq!(created["healthy"], true, "{created}");
        Chat::new(&self.daemon)
    }

    /// Creates a session and returns the response.
    pub(super) async fn create(&self, more: &Value) -> Value {
        let response = self.daemon.post("/v1/sessions/a", &self.create_request(more)).await;
        assert_eq!(response.status(), 200, "{:?}", response.text().await);
        response.json().await.expect("JSON")
    }

    /// The requests to the model after the first `from` ones, as path and body: both may name the model and its variant.
    pub(super) fn models(&self, from: usize) -> Vec<String> {
        let requests = self.model.requests().into_iter().skip(from).filter(|seen| seen.api.is_some());
        requests.map(|seen| format!("{} {}", seen.path, seen.body)).collect()
    }
}
