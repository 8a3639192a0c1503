//! What one test has to itself: a daemon in a fresh home, a model with a key of its own, a directory to work in.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use testkit::{
    TestDaemon, TestDaemonOptions,
    agent_setup::{AgentSetup, ModelEndpoint},
    model::{ScriptedModel, ScriptedModelOptions},
};

use super::{agent::Agent, chat::Chat};
use crate::{
    TOMBOLO,
    real::{
        processes::{self, MARK},
        stage::{KEY, MISLEADING, share_agents},
    },
};

pub(super) struct Stage {
    pub(super) agent: &'static Agent,
    pub(super) daemon: TestDaemon,
    pub(super) model: ScriptedModel,
    setup: AgentSetup,
    /// Carried by everyone who descends from the agent, and by nobody else.
    pub(super) mark: String,
}

impl Stage {
    pub(super) async fn new(agent: &'static Agent) -> Self {
        let mut options = TestDaemonOptions::default().with_user_caches();
        for name in MISLEADING {
            options = options.env_remove(name);
        }
        // The model is on this machine, whatever leads to the network.
        let daemon = options.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1").start(TOMBOLO);
        share_agents(&daemon.home());
        let model = ScriptedModelOptions::default().key(KEY).start().await.expect("a free port");
        let setup = (agent.home)(&daemon.home(), ModelEndpoint { url: &model.url(), key: KEY });
        fs::create_dir_all(daemon.home().join("project")).expect("make the project");
        let mark = daemon.home().display().to_string();
        Self { agent, daemon, model, setup, mark }
    }

    /// Where the agent works.
    pub(super) fn project(&self) -> PathBuf {
        self.daemon.home().join("project")
    }

    /// What a session is created with, and `more`.
    pub(super) fn wish(&self, more: &Value) -> Value {
        let mut env = self.setup.env.clone();
        env.insert(MARK.into(), self.mark.clone());
        let mut wish = json!({ "agent": self.agent.name, "directory": self.project(), "env": env });
        if let Some(model) = self.agent.model {
            wish["model"] = model.into();
        }
        for (name, value) in more.as_object().expect("an object") {
            wish[name] = value.clone();
        }
        wish
    }

    /// A session whose agent can be used.
    pub(super) async fn chat(&self, more: &Value) -> Chat<'_> {
        let created = self.create(more).await;
        assert_eq!(created["healthy"], true, "{created}");
        Chat::new(&self.daemon)
    }

    /// What came of creating the session.
    pub(super) async fn create(&self, more: &Value) -> Value {
        let response = self.daemon.post("/v1/sessions/a", &self.wish(more)).await;
        assert_eq!(response.status(), 200, "{:?}", response.text().await);
        response.json().await.expect("JSON")
    }

    /// What the model was asked for since `from`, as names of models and how long they may think.
    pub(super) fn models(&self, from: usize) -> Vec<String> {
        let requests = self.model.requests().into_iter().skip(from).filter(|seen| seen.api.is_some());
        requests.map(|seen| format!("{} {}", seen.path, seen.body)).collect()
    }
}

/// A test that fails kills its daemon, which then cannot end what an agent of it started.
impl Drop for Stage {
    fn drop(&mut self) {
        processes::kill(&self.mark);
    }
}
