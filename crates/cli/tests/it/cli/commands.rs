//! daemon-3: every command, as a table and as the wire body.

use reqwest::Method;
use testkit::{TestDaemon, TestDaemonOptions};

use super::{INITIALIZE, api, api_with_input, assert_shown};
use crate::TOMBOLO;

/// `--json` prints the body of the answer, byte for byte.
async fn check_json(daemon: &TestDaemon, arguments: &[&str], path: &str) {
    let printed = api(daemon, &[arguments, &["--json"]].concat()).ok();
    let served = daemon.get(path).await.text().await.unwrap();
    assert_eq!(printed, served, "{arguments:?}");
}

#[tokio::test]
async fn info_is_shown() {
    let daemon = TestDaemon::start(TOMBOLO);
    assert_shown!("info_about", api(&daemon, &["info", "about"]).ok());
    assert_shown!("info_health", api(&daemon, &["info", "health"]).ok());
    check_json(&daemon, &["info", "about"], "/").await;
    check_json(&daemon, &["info", "health"], "/v1/health").await;
    check_json(&daemon, &["info", "openapi"], "/v1/openapi.json").await;
}

/// What the machine that runs the tests may have, and a snapshot must not show.
const CREDENTIALS: [&str; 8] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "OPENAI_API_KEY",
    "CODEX_API_KEY",
    "AMP_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
];

#[tokio::test]
async fn agents_are_shown_and_installed() {
    let mut options =
        TestDaemonOptions::default().agent("mine", &["no-such-program", "--acp"]).env("PATH", "/nowhere");
    for name in CREDENTIALS {
        options = options.env(name, "");
    }
    let daemon = options.start(TOMBOLO);
    assert_shown!("agents_list", api(&daemon, &["agents", "list"]).ok());
    assert_shown!("agents_install", api(&daemon, &["agents", "install", "mock"]).ok());
    assert_shown!("agents_modes", api(&daemon, &["agents", "modes", "mock"]).ok());
    assert_shown!("agents_models", api(&daemon, &["agents", "models", "mock"]).ok());
    check_json(&daemon, &["agents", "list"], "/v1/agents").await;
    check_json(&daemon, &["agents", "modes", "mock"], "/v1/agents/mock/modes").await;
    check_json(&daemon, &["agents", "models", "mock"], "/v1/agents/mock/models").await;
    let installed = api(&daemon, &["agents", "install", "mock", "--reinstall", "--json"]).ok();
    let served = daemon.request(Method::POST, "/v1/agents/mock/install").send().await.unwrap();
    assert_eq!(installed, served.text().await.unwrap());
    let refused = api(&daemon, &["agents", "install", "mine"]).said(1);
    assert!(refused.contains("urn:problem:install-unavailable"), "{refused}");
}

#[tokio::test]
async fn instances_are_prepared_used_and_ended() {
    let daemon = TestDaemon::start(TOMBOLO);
    let prepare = ["acp", "prepare", "demo", "--agent", "mock", "--cwd", "/", "--env", "A=b=c"];
    assert_shown!("acp_prepare", api(&daemon, &prepare).ok());
    assert_shown!("acp_list_starting", api(&daemon, &["acp", "list"]).ok());
    check_json(&daemon, &["acp", "list"], "/v1/acp").await;
    let again = api(&daemon, &[&prepare[..], &["--json", "--", "--more"]].concat()).ok();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&again).unwrap()["serverId"], "demo");
    let response = api(&daemon, &["acp", "send", "demo", INITIALIZE]).ok();
    assert!(response.starts_with(r#"{"id":1,"jsonrpc":"2.0""#) && response.ends_with("}\n"), "{response}");
    assert_shown!("acp_list_running", api(&daemon, &["acp", "list"]).ok());
    assert_eq!(api(&daemon, &["acp", "delete", "demo"]).said(0), "deleted instance demo\n");
    assert_eq!(api(&daemon, &["acp", "delete", "demo", "--json"]).ok(), "");
}

#[tokio::test]
async fn messages_are_sent_from_the_command_line_and_from_standard_input() {
    let daemon = TestDaemon::start(TOMBOLO);
    let sent =
        api_with_input(&daemon, &["acp", "send", "a", "--agent", "mock", "--json"], INITIALIZE.as_bytes());
    let response = sent.ok();
    let stream = daemon.events("a", None).await.next().await.unwrap();
    assert_eq!(response, stream.data, "byte for byte what the agent wrote");
    let multiline = INITIALIZE.replace(',', ",\n").replace(":1,", ":2,");
    assert!(
        api_with_input(&daemon, &["acp", "send", "a", "-"], multiline.as_bytes()).ok().contains(r#""id":2"#)
    );
    let notification = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{}}"#;
    assert_eq!(api(&daemon, &["acp", "send", "a", notification]).said(0), "sent to the agent\n");
    let asynchronous = ["acp", "send", "a", "--async", &INITIALIZE.replace(":1,", ":3,")];
    assert_eq!(api(&daemon, &asynchronous).said(0), "sent to the agent\n");
    let hanging = ["acp", "send", "a", "--timeout", "50ms", &super::prompt(4, "/hang")];
    let said = api(&daemon, &hanging).said(1);
    assert!(said.contains("urn:problem:agent-timeout"), "{said}");
}

#[tokio::test]
async fn mcp_servers_are_stored_shown_and_forgotten() {
    let daemon = TestDaemon::start(TOMBOLO);
    let local = r#"{"type":"local","command":["mcp-files","/w"],"args":["-v"],"env":{"KEY":"hush-hush"}}"#;
    let remote = r#"{"type":"remote","url":"https://x.example/mcp","headers":{"Authorization":"hush-hush"},"enabled":false}"#;
    let set = ["mcp", "set", "-d", "/w", "files", local];
    assert_eq!(api(&daemon, &set).said(0), "stored MCP server files\n");
    assert_eq!(
        api_with_input(&daemon, &["mcp", "set", "-d", "/w", "search", "--json"], remote.as_bytes()).ok(),
        ""
    );
    assert_shown!("mcp_list", api(&daemon, &["mcp", "list", "-d", "/w"]).ok());
    let shown = [
        api(&daemon, &["mcp", "get", "-d", "/w", "files"]).ok(),
        api(&daemon, &["mcp", "get", "-d", "/w", "search"]).ok(),
    ];
    assert!(!shown.concat().contains("hush"), "people are shown the names of secrets only");
    assert_shown!("mcp_get", shown.concat());
    check_json(&daemon, &["mcp", "list", "-d", "/w"], "/v1/config/mcp?directory=/w").await;
    check_json(&daemon, &["mcp", "get", "-d", "/w", "files"], "/v1/config/mcp?directory=/w&mcpName=files")
        .await;
    assert_eq!(api(&daemon, &["mcp", "delete", "-d", "/w", "files"]).said(0), "deleted MCP server files\n");
    let gone = api(&daemon, &["mcp", "get", "-d", "/w", "files"]).said(1);
    assert!(gone.contains("urn:problem:entry-not-found"), "{gone}");
}

#[tokio::test]
async fn skills_are_stored_shown_and_forgotten() {
    let daemon = TestDaemon::start(TOMBOLO);
    let entry = r#"{"sources":[{"type":"github","source":"o/n","ref":"main"},{"type":"local","source":"/s","skills":["a","b"]}]}"#;
    assert_eq!(
        api(&daemon, &["skills", "set", "-d", "/w", "review", entry]).said(0),
        "stored skills entry review\n"
    );
    assert_shown!("skills_list", api(&daemon, &["skills", "list", "-d", "/w"]).ok());
    assert_shown!("skills_get", api(&daemon, &["skills", "get", "-d", "/w", "review"]).ok());
    check_json(&daemon, &["skills", "list", "-d", "/w"], "/v1/config/skills?directory=/w").await;
    check_json(
        &daemon,
        &["skills", "get", "-d", "/w", "review"],
        "/v1/config/skills?directory=/w&skillName=review",
    )
    .await;
    assert_eq!(
        api(&daemon, &["skills", "delete", "-d", "/w", "review"]).said(0),
        "deleted skills entry review\n"
    );
}
