//! What one test has to itself: a daemon in a fresh home, a model with a key of its own, a directory to work in.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use serde_json::json;
use testkit::{
    TestDaemon, TestDaemonOptions,
    agent_setup::{AgentSetup, ModelEndpoint},
    model::{ScriptedModel, ScriptedModelOptions},
};

use super::{
    agent::Agent,
    processes::{self, MARK},
    talk::Talk,
};
use crate::TOMBOLO;

/// The key that the model wants, so that an answer shows that `PUT` brought it to the agent.
pub(crate) const KEY: &str = "sk-scripted-0123456789";

/// The variables of whoever runs the tests that would lead an agent elsewhere.
pub(crate) const MISLEADING: [&str; 5] =
    ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "GEMINI_API_KEY"];

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

    /// Starts the agent under this name and says hello.
    pub(super) async fn talk(&self, instance: &str) -> Talk<'_> {
        let mut env = self.setup.env.clone();
        env.insert(MARK.into(), self.mark.clone());
        let body =
            json!({ "agent": self.agent.name, "cwd": self.project(), "env": env, "args": self.setup.args });
        let prepared = self.daemon.put(&format!("/v1/acp/{instance}"), &body).await;
        assert_eq!(prepared.status(), 201, "{:?}", prepared.text().await);
        Talk::start(&self.daemon, instance).await
    }
}

/// Lets all tests install into one place, as an agent takes some hundred megabytes. The first to use one installs it.
pub(crate) fn share_agents(home: &Path) {
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agents");
    fs::create_dir_all(&shared).expect("make the place");
    let data = home.join(".local/share/tombolo");
    fs::create_dir_all(&data).expect("make the daemon's place");
    symlink(shared, data.join("agents")).expect("link it");
}

/// A test that fails kills its daemon, which then cannot end what an agent of it started.
impl Drop for Stage {
    fn drop(&mut self) {
        processes::kill(&self.mark);
    }
}
