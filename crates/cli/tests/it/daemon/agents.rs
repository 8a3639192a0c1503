use reqwest::Method;
use serde_json::{Value, json};
use testkit::TestDaemonOptions;

use crate::{TOMBOLO, check_problem, problem};

/// daemon-5, daemon-8: built-in and user-defined agents are listed with what is known of them.
#[tokio::test]
async fn agents_are_listed() {
    let options = TestDaemonOptions::default().agent("mine", &["cat"]).agent("gone", &["/no/such/program"]);
    let options = options.env("ANTHROPIC_API_KEY", "x").env("GEMINI_API_KEY", "").env("GOOGLE_API_KEY", "");
    let daemon = options.start(TOMBOLO);
    let list = async || daemon.get("/v1/agents").await.json::<Value>().await.unwrap();
    let agents = list().await;
    let ids: Vec<_> =
        agents["items"].as_array().unwrap().iter().map(|agent| agent["id"].as_str().unwrap()).collect();
    for known in
        ["amp", "claude", "codex", "cursor", "gemini", "gone", "goose", "mine", "mock", "opencode", "pi"]
    {
        assert!(ids.contains(&known), "{known} is not among {ids:?}");
    }
    let of = |agents: &Value, id: &str| {
        agents["items"].as_array().unwrap().iter().find(|agent| agent["id"] == id).unwrap().clone()
    };
    let [gone, mine, mock, claude] = ["gone", "mine", "mock", "claude"].map(|id| of(&agents, id));
    assert_eq!((&claude["source"], &claude["protocol"]), (&json!("catalog"), &json!("claude")));
    assert_eq!(
        (&claude["capabilities"]["acp"], &claude["capabilities"]["plans"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(claude["installableFrom"][0], "download from storage.googleapis.com");
    assert_eq!(claude["credentialsFound"], true, "its variable is set");
    assert_eq!(of(&agents, "gemini")["credentialsFound"], false);
    assert_eq!((&gone["installed"], &gone["path"]), (&json!(false), &Value::Null));
    assert_eq!((&mine["installed"], &mine["source"]), (&json!(true), &json!("user")));
    assert!(mine["path"].as_str().unwrap().ends_with("/cat"));
    assert_eq!(
        (&mock["source"], &mock["capabilities"]["acp"], &mock["runningInstances"]),
        (&json!("builtIn"), &json!(true), &json!(0))
    );
    daemon.post("/v1/acp/a?agent=mock", &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize" })).await;
    assert_eq!(of(&list().await, "mock")["runningInstances"], 1);
    // Sessions have agents too.
    assert_eq!(of(&list().await, "mock")["runningSessions"], 0);
    daemon.post("/v1/sessions/s", &json!({ "agent": "mock" })).await;
    let running = of(&list().await, "mock");
    assert_eq!((&running["runningInstances"], &running["runningSessions"]), (&json!(1), &json!(1)));
    assert_eq!(daemon.delete("/v1/sessions/s").await.status(), 204);
    assert_eq!(of(&list().await, "mock")["runningSessions"], 0);
    // Of an agent that nobody has tried, only the protocol is known.
    for unknown in ["goose", "mine"] {
        let capabilities = &of(&agents, unknown)["capabilities"];
        assert_eq!(capabilities["acp"], true, "{unknown}");
        for name in ["permissions", "questions", "plans", "steering", "resume", "fork"] {
            assert_eq!(capabilities[name], Value::Null, "{unknown}: {name}");
        }
    }
    assert!(
        !list().await.to_string().contains("ANTHROPIC"),
        "which credentials there are is nobody's business"
    );
    let modes: Value = daemon.get("/v1/agents/mock/modes").await.json().await.unwrap();
    assert_eq!(modes["modes"][0]["id"], "build");
    let models: Value = daemon.get("/v1/agents/mock/models").await.json().await.unwrap();
    assert_eq!(models["items"][0]["variants"], json!([]));
    for path in ["modes", "models"] {
        check_problem(
            &problem(daemon.get(&format!("/v1/agents/nobody/{path}")).await).await,
            404,
            "urn:problem:agent-not-found",
        );
    }
}

/// daemon-6: installing what is there already is no work; what the user must install is said so.
#[tokio::test]
async fn installing_is_idempotent() {
    let daemon = TestDaemonOptions::default().agent("gone", &["/no/such/program"]).start(TOMBOLO);
    let install = |agent: &str, body: Option<Value>| {
        let request = daemon.request(Method::POST, &format!("/v1/agents/{agent}/install"));
        match body {
            Some(body) => request.json(&body).send(),
            None => request.send(),
        }
    };
    for body in [None, Some(json!({})), Some(json!({ "reinstall": true }))] {
        let answer: Value = install("mock", body).await.unwrap().json().await.unwrap();
        assert_eq!((&answer["agent"], &answer["alreadyInstalled"]), (&json!("mock"), &json!(true)));
    }
    check_problem(
        &problem(install("gone", None).await.unwrap()).await,
        409,
        "urn:problem:install-unavailable",
    );
    check_problem(
        &problem(install("mock", Some(json!({ "version": "9" }))).await.unwrap()).await,
        409,
        "urn:problem:install-unavailable",
    );
    check_problem(&problem(install("nobody", None).await.unwrap()).await, 404, "urn:problem:agent-not-found");
    check_problem(
        &problem(install("mock", Some(json!({ "x": 1 }))).await.unwrap()).await,
        400,
        "urn:problem:invalid-request",
    );
}

/// daemon-6: a preprovisioned image installs nothing.
#[tokio::test]
async fn nothing_is_installed_where_that_is_switched_off() {
    let options = TestDaemonOptions::default().arg("--no-install").agent("gone", &["/no/such/program"]);
    let daemon = options.start(TOMBOLO);
    let install = |agent: &str| daemon.request(Method::POST, &format!("/v1/agents/{agent}/install")).send();
    check_problem(&problem(install("gone").await.unwrap()).await, 403, "urn:problem:forbidden");
    assert_eq!(install("mock").await.unwrap().status(), 200);
}

/// daemon-8: a user's definition may shadow a built-in name.
#[tokio::test]
async fn a_user_may_shadow_the_mock() {
    let daemon = TestDaemonOptions::default().agent("mock", &["cat"]).start(TOMBOLO);
    let message = r#"{"jsonrpc":"2.0","method":"from-the-user"}"#;
    assert_eq!(daemon.post_text("/v1/acp/a?agent=mock", message).await.status(), 202);
    assert_eq!(daemon.events("a", None).await.next_of("message").await.data, message);
}
