//! An agent that nobody wrote a row for: it comes from the snapshot of the ACP registry.

use serde_json::{Value, json};
use testkit::TestDaemonOptions;

use crate::TOMBOLO;

/// daemon-6, daemon-8: the smallest of them, 4 MB, out of an empty home: one request installs it and is answered.
#[tokio::test]
async fn an_agent_of_the_registry_is_installed_by_its_first_message() {
    let daemon = TestDaemonOptions::default().with_user_caches().start(TOMBOLO);
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": 1, "clientCapabilities": {} },
    });
    let answer: Value = daemon.post("/v1/acp/x?agent=auggie", &initialize).await.json().await.unwrap();
    assert_eq!(answer["result"]["agentInfo"]["name"], "auggie", "{answer}");
}
