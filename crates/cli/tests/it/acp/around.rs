use reqwest::Method;
use serde_json::{Value, json};
use testkit::{TestDaemon, TestDaemonOptions, within};

use super::*;
use crate::secs;

/// acp-22: removed surfaces stay absent, and their methods are forwarded like any other.
#[tokio::test]
async fn removed_surfaces_are_absent() {
    let daemon = TestDaemonOptions::default().agent("cat", &["cat"]).start(TOMBOLO);
    for path in ["/v1/rpc", "/opencode", "/opencode/session", "/v1/acp/a/b"] {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let response = daemon.request(method, path).json(&request(1, "initialize")).send().await.unwrap();
            check_problem(&problem(response).await, 404, "urn:problem:not-found");
        }
    }
    let message = r#"{"jsonrpc":"2.0","method":"_sandboxagent/session/set_metadata","params":{"_meta":{"sandboxagent.dev":1}}}"#;
    assert_eq!(daemon.post_text("/v1/acp/a?agent=cat", message).await.status(), 202);
    let event = within(secs(5), daemon.events("a", None).await.next_of("message")).await;
    assert_eq!(event.data, message);
}

/// acp-23: without the token nothing under `/v1` is told, but that the daemon is well.
#[tokio::test]
async fn a_token_guards_everything_but_health() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "correct-horse\n").unwrap();
    let by_flag = TestDaemonOptions::default().arg("--token").arg("correct-horse");
    let by_variable = TestDaemonOptions::default().env("TOMBOLO_TOKEN", "correct-horse");
    let by_file = TestDaemonOptions::default().arg("--token-file").arg(file.path().to_str().unwrap());
    for options in [by_flag, by_variable, by_file] {
        let daemon = options.start(TOMBOLO);
        assert_eq!(daemon.get("/v1/health").await.text().await.unwrap(), r#"{"status":"ok"}"#);
        assert_eq!(daemon.get("/").await.status(), 200);
        for path in ["/v1/acp", "/v1/agents", "/v1/openapi.json", "/v1/fs/stat?path=/", "/v1/nothing"] {
            for header in [
                None,
                Some("Bearer wrong-horse"),
                Some("Bearer correct-hors"),
                Some("Basic correct-horse"),
                Some("correct-horse"),
            ] {
                let mut get = daemon.request(Method::GET, path);
                if let Some(header) = header {
                    get = get.header("authorization", header);
                }
                let response = get.send().await.unwrap();
                assert_eq!(response.headers()["www-authenticate"], "Bearer");
                check_problem(&problem(response).await, 401, "urn:problem:unauthorized");
            }
        }
        for scheme in ["Bearer", "bearer"] {
            let get = daemon
                .request(Method::GET, "/v1/acp")
                .header("authorization", format!("{scheme} correct-horse"));
            assert_eq!(get.send().await.unwrap().status(), 200);
        }
    }
}

/// acp-24: the mock answers the whole of a conversation.
#[tokio::test]
async fn the_mock_holds_a_conversation() {
    let daemon = TestDaemon::start(TOMBOLO);
    let post = async |message: Value| {
        daemon.post("/v1/acp/a?agent=mock", &message).await.json::<Value>().await.unwrap()
    };
    assert_eq!(post(request(1, "initialize")).await["result"]["agentInfo"]["name"], "mock");
    let session = post(json!({ "jsonrpc": "2.0", "id": 2, "method": "session/new", "params": { "cwd": "/", "mcpServers": [] } })).await;
    assert!(session["result"]["sessionId"].as_str().unwrap().starts_with("mock-1"), "{session}");
    assert_eq!(
        post(prompt(3, "hello\n/tool\n/think hm\n/updates 2 50")).await["result"]["stopReason"],
        "end_turn"
    );
    assert_eq!(post(request(4, "no/such")).await["error"]["code"], -32601);
    let crash = daemon.post("/v1/acp/a", &prompt(5, "/crash 9")).await;
    check_problem(&problem(crash).await, 502, "urn:problem:agent-exited");
    assert_eq!(daemon.instance("a").await["exit"]["code"], 9);
}
