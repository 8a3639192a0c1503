//! Creates a session with the agent of a test.

use serde_json::{Value, json};

use super::{agent::Agent, chat::Chat};
use crate::{agent_stage::AgentStage, check_problem, problem};

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

    /// Creates a session that is refused, and returns why. The agent does not offer what `more` chooses.
    pub(super) async fn refused(&self, more: &Value) -> String {
        let response = self.daemon.post("/v1/sessions/a", &self.create_request(more)).await;
        let problem = problem(response).await;
        check_problem(&problem, 409, "urn:problem:unsupported-feature");
        assert_eq!(self.daemon.get("/v1/sessions/a").await.status(), 404, "it is not stored");
        problem["detail"].as_str().expect("a detail").into()
    }

    /// The modes that are listed, once the agent is installed.
    pub(super) async fn modes(&self) -> Vec<String> {
        self.chat(&json!({})).await;
        self.delete().await;
        let list = self.daemon.get(&format!("/v1/agents/{}/modes", self.agent.name)).await;
        let list: Value = list.json().await.expect("JSON");
        let modes = list["modes"].as_array().expect("modes").iter();
        modes.map(|mode| mode["id"].as_str().expect("an id").to_owned()).collect()
    }

    /// Deletes the session.
    pub(super) async fn delete(&self) {
        assert_eq!(self.daemon.delete("/v1/sessions/a").await.status(), 204);
    }

    /// The requests to the model after the first `from` ones, as path and body: both may name the model and its variant.
    pub(super) fn models(&self, from: usize) -> Vec<String> {
        let requests = self.model.requests().into_iter().skip(from).filter(|seen| seen.api.is_some());
        requests.map(|seen| format!("{} {}", seen.path, seen.body)).collect()
    }
}
