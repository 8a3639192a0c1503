//! `IS_SANDBOX` in the daemon's environment, which Claude Code and its ACP adapter read differently.

use testkit::{IS_SANDBOX, TestDaemonOptions};

use super::agent::CLAUDE;
use crate::agent_stage::{AgentStage, KEY};

/// The adapter takes any value for a yes and asks Claude Code for its bypass mode, which that refuses to root unless the value
/// is `1`: no session could begin.
#[tokio::test]
async fn claude_starts_as_root_whatever_the_machine_says_of_itself() {
    for value in ["yes", "0"] {
        let options = TestDaemonOptions::default().env(IS_SANDBOX, value);
        let stage = AgentStage::start_with(&CLAUDE, CLAUDE.home, KEY, options).await;
        let mut talk = stage.talk("a").await;
        let session = talk.session(&stage.project()).await;
        let turn = talk.prompt(&session, "say:hello").await;
        assert!(turn.text.contains("hello"), "{value}: {turn:?}");
    }
}
