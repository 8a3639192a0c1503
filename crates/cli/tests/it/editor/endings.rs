//! How it ends when something is wrong: a message, a code, and an answer to whoever waits.

use super::*;

/// The refusal of the request with this id, and how the bridge ended.
async fn check(mut editor: Editor, id: u64, code: i32, words: &str) -> Ended {
    let answer = loop {
        let heard = editor.hear().await;
        if heard["id"] == id {
            break heard;
        }
    };
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{answer}");
    let ended = editor.ended().await;
    assert_eq!(ended.code, Some(code), "{}", ended.stderr);
    assert!(ended.stderr.contains(words), "{}", ended.stderr);
    assert!(ended.stdout.is_empty(), "{:?}", ended.stdout);
    ended
}

/// daemon-2: the token comes from a file or the variable, and is never printed or seen.
#[tokio::test]
async fn a_wrong_token_is_told() {
    let daemon = TestDaemonOptions::default().arg("--token").arg("the-right-one").start(TOMBOLO);
    let start = |token: &str| {
        let mut command = acp(daemon.base(), &["--agent", "mock"]);
        command.env("TOMBOLO_TOKEN", token);
        Editor::of(command)
    };
    let mut editor = start("the-wrong-one");
    editor.say(&initialize()).await;
    let ended = check(editor, 1, 1, "A valid bearer token is needed").await;
    assert!(!ended.stderr.contains("the-wrong-one"));

    let mut editor = start("the-right-one");
    editor.say(&initialize()).await;
    assert_eq!(editor.hear().await["result"]["agentInfo"]["name"], "mock");
    assert_eq!(editor.leave().await.code, Some(0));

    let file = daemon.home().join("token");
    std::fs::write(&file, "the-right-one\n").unwrap();
    let mut editor =
        Editor::start(daemon.base(), &["--agent", "mock", "--token-file", file.to_str().unwrap()]);
    editor.say(&initialize()).await;
    assert_eq!(editor.hear().await["id"], 1);
}

#[tokio::test]
async fn an_unknown_agent_is_told() {
    let daemon = TestDaemon::start(TOMBOLO);
    let mut editor = Editor::start(daemon.base(), &["--agent", "nobody"]);
    editor.say(&initialize()).await;
    let ended = check(editor, 1, 1, "there is no agent `nobody`").await;
    assert!(ended.stderr.contains("urn:problem:unknown-agent"), "{}", ended.stderr);
    assert!(instances(&daemon).await.is_empty());
}

#[tokio::test]
async fn the_instance_of_another_agent_is_told() {
    let daemon = TestDaemon::start(TOMBOLO);
    daemon.post("/v1/acp/a?agent=mock", &initialize()).await;
    let mut editor = Editor::start(daemon.base(), &["--agent", "other", "--server-id", "a"]);
    editor.say(&initialize()).await;
    check(editor, 1, 2, "instance `a` runs the agent `mock`, not `other`").await;
    assert_eq!(daemon.instance("a").await["state"], "running");
}

/// acp-12: the end of the agent is told at once, after the last that it said.
#[tokio::test]
async fn the_end_of_the_agent_is_told() {
    let daemon = TestDaemon::start(TOMBOLO);
    let mut editor = Editor::start(daemon.base(), &["--agent", "mock"]);
    editor.say(&prompt(3, "/chunks 100\n/crash 3")).await;
    for number in 1..=100 {
        let text = format!("chunk {number} ");
        assert_eq!(editor.hear().await["params"]["update"]["content"]["text"], text.as_str());
    }
    let ended = check(editor, 3, 6, "the agent exited with code 3").await;
    assert!(ended.stderr.contains("  | mock: crashing with code 3, as told"), "{}", ended.stderr);
    assert!(instances(&daemon).await.is_empty());
}

/// acp-21: somebody else deletes the instance.
#[tokio::test]
async fn a_deleted_instance_is_told() {
    let (daemon, _proxy, editor) = in_a_turn(TestDaemonOptions::default(), &[]).await;
    assert_eq!(daemon.delete("/v1/acp/a").await.status(), 204);
    check(editor, 2, 6, "the agent ").await;
}

/// The instance is deleted while nobody can be told; a daemon that was started anew looks the same.
#[tokio::test]
async fn an_instance_that_is_gone_after_an_outage_is_told() {
    let (daemon, proxy, editor) = in_a_turn(TestDaemonOptions::default(), &[]).await;
    proxy.open(false);
    assert_eq!(daemon.delete("/v1/acp/a").await.status(), 204);
    proxy.open(true);
    check(editor, 2, 6, "the instance no longer exists").await;
    assert!(instances(&daemon).await.is_empty());
}

/// acp-18: what fell out of the ring while the network was down is never passed over in silence.
#[tokio::test]
async fn a_gap_is_told() {
    let (daemon, proxy, editor) = in_a_turn(TestDaemonOptions::default().arg("--events-max=10"), &[]).await;
    proxy.open(false);
    // Somebody else makes the agent say more than is kept.
    daemon.post("/v1/acp/a", &json!({ "jsonrpc": "2.0", "method": "session/cancel" })).await;
    daemon.post("/v1/acp/a", &prompt(9, "/chunks 50")).await;
    proxy.open(true);
    check(editor, 2, 7, "messages from the agent were lost").await;
}

#[tokio::test]
async fn a_senseless_command_is_2() {
    for arguments in [
        &["--agent", "Not A Name"][..],
        &[],
        &["--agent", "mock", "--server-id", "a/b"],
        &["--agent", "mock", "--token", "in-the-arguments"],
        &["--agent", "mock", "--reconnect-timeout", "soon"],
        &["--agent", "mock", "--linger", "0"],
    ] {
        let ended = Editor::start("http://127.0.0.1:1", arguments).leave().await;
        assert_eq!((ended.code, ended.stdout.len()), (Some(2), 0), "{arguments:?}: {}", ended.stderr);
    }
}
