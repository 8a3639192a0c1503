use std::{collections::BTreeMap, time::Duration};

use agent_catalog::UserAgent;
use protocol::sessions::{AgentError, CreateSessionRequest};
use tempfile::TempDir;

use crate::runtime::{id, sessions_with, within};

/// sessions-7: an agent whose process runs and says nothing is given up in time, and the session says so.
#[tokio::test]
async fn an_agent_that_says_nothing_is_a_timeout() {
    let home = TempDir::new().unwrap();
    let silent: UserAgent = serde_json::from_str(r#"{ "command": ["/bin/sleep", "600"] }"#).unwrap();
    let agents = BTreeMap::from([("silent".parse().unwrap(), silent)]);
    let sessions = sessions_with(&home, agents, Duration::from_millis(200));
    let create: CreateSessionRequest = serde_json::from_str(r#"{ "agent": "silent" }"#).unwrap();
    let created = within(sessions.create(&id(), create)).await.unwrap();
    assert!(!created.healthy);
    assert!(matches!(created.error, Some(AgentError::Timeout { .. })), "{:?}", created.error);
    sessions.shutdown().await;
}
