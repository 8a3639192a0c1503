//! The surroundings of one test with a real agent, shared by the suites `real` and `universal`.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use testkit::{
    TestDaemon, TestDaemonOptions,
    agent_setup::{AgentSetup, ModelEndpoint},
    model::{ScriptedModel, ScriptedModelOptions},
};

use crate::{
    TOMBOLO,
    real::processes::{self, MARK},
};

/// The API key that the model requires. An answer shows that the daemon passed it to the agent.
pub(crate) const KEY: &str = "sk-scripted-0123456789";

/// Variables of the user who runs the tests. With them an agent would use another model.
const MISLEADING: [&str; 10] = [
    "AMP_API_KEY",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CODEX_ACCESS_TOKEN",
    "CODEX_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENAI_API_KEY",
];

/// Writes the configuration of an agent into its home.
pub(crate) type ConfigureAgent = fn(&Path, ModelEndpoint<'_>) -> AgentSetup;

/// A daemon in a fresh home, a model with a key of its own, and a project directory for the agent `A`.
pub(crate) struct AgentStage<A: 'static> {
    pub(crate) agent: &'static A,
    pub(crate) daemon: TestDaemon,
    pub(crate) model: ScriptedModel,
    pub(crate) setup: AgentSetup,
    /// The value of [`MARK`] in the environment of the agent and all its descendants, and of no other process.
    pub(crate) mark: String,
}

impl<A> AgentStage<A> {
    pub(crate) async fn start(agent: &'static A, configure: ConfigureAgent) -> Self {
        Self::start_with(agent, configure, KEY, TestDaemonOptions::default()).await
    }

    pub(crate) async fn start_with(
        agent: &'static A,
        configure: ConfigureAgent,
        key: &str,
        options: TestDaemonOptions,
    ) -> Self {
        let mut options = options.with_user_caches();
        for name in MISLEADING {
            options = options.env_remove(name);
        }
        // Requests to the model must not go through the user's HTTP proxy.
        let daemon = options.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1").start(TOMBOLO);
        share_agents(&daemon.home());
        let model = ScriptedModelOptions::default().key(key).start().await.expect("no port is free");
        let setup = configure(&daemon.home(), ModelEndpoint { url: &model.url(), key });
        fs::create_dir_all(daemon.home().join("project")).expect("could not create the project directory");
        let mark = daemon.home().display().to_string();
        Self { agent, daemon, model, setup, mark }
    }

    /// The working directory of the agent.
    pub(crate) fn project(&self) -> PathBuf {
        self.daemon.home().join("project")
    }

    /// The environment of the agent, with the mark.
    pub(crate) fn env(&self) -> BTreeMap<String, String> {
        let mut env = self.setup.env.clone();
        env.insert(MARK.into(), self.mark.clone());
        env
    }
}

/// Lets all tests install agents into one directory, because an agent takes some hundred megabytes. The first test that
/// uses an agent installs it.
fn share_agents(home: &Path) {
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agents");
    fs::create_dir_all(&shared).expect("could not create the shared directory");
    let data = home.join(".local/share/tombolo");
    fs::create_dir_all(&data).expect("could not create the daemon's data directory");
    symlink(shared, data.join("agents")).expect("could not link the shared directory");
}

/// A failing test kills its daemon, which then cannot stop the processes of its agents.
impl<A> Drop for AgentStage<A> {
    fn drop(&mut self) {
        processes::kill(&self.mark);
    }
}
