//! The editor leaves: its instance is gone, and so is the agent.

use std::path::Path;

use testkit::within_blocking;

use super::*;

async fn talking(endpoint: &str, daemon: &TestDaemon) -> (Editor, u64) {
    talking_as(endpoint, daemon, &["--agent", "mock"]).await
}

async fn talking_as(endpoint: &str, daemon: &TestDaemon, arguments: &[&str]) -> (Editor, u64) {
    let mut editor = Editor::start(endpoint, arguments);
    editor.say(&initialize()).await;
    assert_eq!(editor.hear().await["id"], 1);
    // A turn is running, which shall stop nobody.
    editor.say(&prompt(2, "/think x\n/hang")).await;
    editor.hear().await;
    let [instance] = instances(daemon).await.try_into().unwrap();
    let pid = instance["pid"].as_u64().unwrap();
    assert!(lives(pid));
    (editor, pid)
}

fn lives(pid: u64) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

async fn check_gone(daemon: &TestDaemon, pid: u64) {
    assert!(instances(daemon).await.is_empty());
    assert!(!lives(pid));
}

#[tokio::test]
async fn the_end_of_the_input_ends_the_agent() {
    let daemon = TestDaemon::start(TOMBOLO);
    let (editor, pid) = talking(daemon.base(), &daemon).await;
    let ended = editor.leave().await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    check_gone(&daemon, pid).await;
}

#[tokio::test]
async fn a_signal_ends_the_agent() {
    let daemon = TestDaemon::start(TOMBOLO);
    for signal in ["TERM", "INT", "HUP"] {
        let (editor, pid) = talking(daemon.base(), &daemon).await;
        editor.signal(signal);
        let ended = editor.ended().await;
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{signal}");
        check_gone(&daemon, pid).await;
    }
}

/// Killed, it can tell nobody: the daemon waits a while for it, and ends the agent in the middle of its turn.
#[tokio::test]
async fn a_killed_bridge_leaves_no_agent() {
    let daemon = TestDaemon::start(TOMBOLO);
    let (editor, pid) = talking_as(daemon.base(), &daemon, &["--agent", "mock", "--linger", "300ms"]).await;
    editor.signal("KILL");
    assert_eq!(editor.ended().await.code, None);
    within_blocking(secs(10), || !lives(pid));
    let forgotten = async {
        while !instances(&daemon).await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    within(secs(10), forgotten).await;
}

/// Nothing is said, so that only the closed pipe itself can tell.
#[tokio::test]
async fn an_editor_that_reads_no_more_has_left() {
    let daemon = TestDaemon::start(TOMBOLO);
    let (mut editor, pid) = talking(daemon.base(), &daemon).await;
    editor.stdout = None;
    assert_eq!(editor.ended().await.code, Some(0));
    check_gone(&daemon, pid).await;
}

/// An editor that is killed closes both ends at once.
#[tokio::test]
async fn a_killed_editor_has_left() {
    let daemon = TestDaemon::start(TOMBOLO);
    let (mut editor, pid) = talking(daemon.base(), &daemon).await;
    (editor.stdin, editor.stdout) = (None, None);
    assert_eq!(editor.ended().await.code, Some(0));
    check_gone(&daemon, pid).await;
}

/// The network is down at that moment, and back a moment later.
#[tokio::test]
async fn an_editor_that_leaves_while_the_network_is_down_leaves_nothing() {
    let daemon = TestDaemon::start(TOMBOLO);
    let proxy = Proxy::start(daemon.base()).await;
    let (mut editor, pid) = talking(&proxy.endpoint(), &daemon).await;
    proxy.open(false);
    editor.stdin = None;
    // It has tried, and says so.
    let mut first = [0; 8];
    within(secs(10), editor.stderr.read_exact(&mut first)).await.unwrap();
    assert!(lives(pid));
    proxy.open(true);
    assert_eq!(editor.ended().await.code, Some(0));
    check_gone(&daemon, pid).await;
}

/// The wait is bounded when the network stays down; what may be left is told.
#[tokio::test]
async fn an_editor_that_leaves_for_good_without_a_network_is_told_what_is_left() {
    let daemon = TestDaemon::start(TOMBOLO);
    let proxy = Proxy::start(daemon.base()).await;
    let (editor, pid) = talking(&proxy.endpoint(), &daemon).await;
    proxy.open(false);
    let ended = editor.leave().await;
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let (_, command) = ended.stderr.split_once("`tombolo api acp delete ").unwrap();
    let id = command.split(' ').next().unwrap();
    assert_eq!(daemon.delete(&format!("/v1/acp/{id}")).await.status(), 204);
    within_blocking(secs(10), || !lives(pid));
}

#[tokio::test]
async fn an_editor_that_says_nothing_starts_nothing() {
    let daemon = TestDaemon::start(TOMBOLO);
    let ended = Editor::start(daemon.base(), &["--agent", "mock"]).leave().await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(instances(&daemon).await.is_empty());
}

/// An instance that was there before belongs to somebody else.
#[tokio::test]
async fn an_instance_that_was_there_is_left_running() {
    let daemon = TestDaemon::start(TOMBOLO);
    daemon.post("/v1/acp/shared?agent=mock", &prompt(1, "said before")).await;
    let mut editor = Editor::start(daemon.base(), &["--agent", "mock", "--server-id", "shared"]);
    editor.say(&prompt(5, "said now")).await;
    assert_eq!(editor.hear().await["params"]["update"]["content"]["text"], "said now");
    assert_eq!(editor.hear().await["id"], 5);
    assert_eq!(editor.leave().await.code, Some(0));
    assert_eq!(daemon.instance("shared").await["state"], "running");
}

/// What the editor says just before it leaves is delivered to an instance that stays.
#[tokio::test]
async fn last_words_arrive() {
    let daemon = testkit::TestDaemonOptions::default().agent("cat", &["cat"]).start(TOMBOLO);
    daemon.post("/v1/acp/shared?agent=cat", &json!({ "jsonrpc": "2.0", "method": "m" })).await;
    let mut editor = Editor::start(daemon.base(), &["--agent", "cat", "--server-id", "shared"]);
    for number in 0..100 {
        editor.say(&json!({ "jsonrpc": "2.0", "method": "n", "params": number })).await;
    }
    assert_eq!(editor.leave().await.code, Some(0));
    let mut events = daemon.events("shared", Some(1)).await;
    for number in 0..100 {
        let event = within(secs(10), events.next_of("message")).await;
        assert_eq!(serde_json::from_str::<Value>(&event.data).unwrap()["params"], number);
    }
}

/// An instance that we named and made is ours; one whose agent has ended is somebody's, and started anew.
#[tokio::test]
async fn a_named_instance_is_ours_if_we_made_it() {
    let daemon = TestDaemon::start(TOMBOLO);
    let mut editor = Editor::start(daemon.base(), &["--agent", "mock", "--server-id", "mine"]);
    editor.say(&initialize()).await;
    editor.hear().await;
    assert_eq!(daemon.instance("mine").await["state"], "running");
    editor.leave().await;
    assert!(instances(&daemon).await.is_empty());

    daemon.post("/v1/acp/mine?agent=mock", &prompt(1, "/crash 3")).await;
    let mut editor = Editor::start(daemon.base(), &["--agent", "mock", "--server-id", "mine"]);
    editor.say(&initialize()).await;
    assert_eq!(editor.hear().await["id"], 1);
    assert_eq!(editor.leave().await.code, Some(0));
    assert_eq!(daemon.instance("mine").await["state"], "running");
}
