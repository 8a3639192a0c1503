//! daemon-13: "PTY over WebSocket", "resize".

use serde_json::{Value, json};
use testkit::TestDaemon;

use super::{viewer::Viewer, *};

/// Shows exactly what is typed.
const RAW_CAT: &str = "stty raw -echo; echo ready; exec cat";

#[tokio::test]
async fn bytes_pass_both_ways_as_they_are() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh_on_terminal(&daemon, RAW_CAT).await;
    let mut viewer = Viewer::open(&daemon, &id, "").await;
    viewer.shows(b"ready").await;
    let every: Vec<u8> = (0..=255).rev().chain(*b"\xc3\xff\xfe!\n").collect();
    viewer.types(&every).await;
    let shown = viewer.shows(b"!\n").await;
    assert_eq!(shown[shown.len() - every.len()..], every);
}

/// Whoever comes back sees what was shown before, or only what is new to it.
#[tokio::test]
async fn whoever_comes_back_sees_what_was_shown() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh_on_terminal(&daemon, RAW_CAT).await;
    let mut first = Viewer::open(&daemon, &id, "").await;
    let before = first.shows(b"ready").await;
    let position = first.attached_after + first.pieces;
    first.leaves().await;
    let process: Value = daemon.get(&path(&id, "")).await.json().await.unwrap();
    assert_eq!(process["state"], "running");

    let mut again = Viewer::open(&daemon, &id, "").await;
    assert_eq!((again.attached_after, again.shows(b"ready").await), (0, before));
    again.types(b"more!").await;
    again.shows(b"more!").await;
    let mut later = Viewer::open(&daemon, &id, &format!("?after={position}")).await;
    assert_eq!(later.attached_after, position);
    let shown = later.shows(b"more!").await;
    assert!(!shown.windows(5).any(|window| window == b"ready"), "{shown:?}");
}

#[tokio::test]
async fn two_viewers_see_and_type_the_same() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh_on_terminal(&daemon, RAW_CAT).await;
    let (mut one, mut two) = (Viewer::open(&daemon, &id, "").await, Viewer::open(&daemon, &id, "").await);
    assert_eq!(one.shows(b"ready").await, two.shows(b"ready").await);
    one.types(b"from one.").await;
    two.shows(b"from one.").await;
    two.types(b"from two.").await;
    one.shows(b"from two.").await;
}

#[tokio::test]
async fn a_new_size_is_seen_by_the_process() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh_on_terminal(&daemon, "stty size; read x; stty size; read x; stty size").await;
    let mut viewer = Viewer::open(&daemon, &id, "").await;
    viewer.shows(b"24 80\r\n").await;
    let resized = daemon.post(&path(&id, "/resize"), &json!({ "columns": 132, "rows": 50 })).await;
    assert_eq!(resized.status(), 204);
    viewer.types(b"\n").await;
    viewer.shows(b"50 132\r\n").await;
    viewer.says(r#"{"type":"resize","columns":90,"rows":30}"#).await;
    viewer.types(b"\n").await;
    viewer.shows(b"30 90\r\n").await;
    let exited = viewer.text().await;
    assert_eq!(
        exited,
        json!({ "type": "exited", "code": 0, "signal": null, "exitedAt": exited["exitedAt"] })
    );
    assert_eq!(viewer.closed().await, Some(1000));
    assert_eq!(ended(&daemon, &id).await["terminal"], json!({ "columns": 90, "rows": 30 }));
}

/// A terminal whose process has ended can still be looked at.
#[tokio::test]
async fn what_was_shown_last_is_shown_after_the_end() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh_on_terminal(&daemon, "echo last words; kill -9 $$").await;
    ended(&daemon, &id).await;
    let mut viewer = Viewer::open(&daemon, &id, "").await;
    viewer.shows(b"last words\r\n").await;
    let exited = viewer.text().await;
    assert_eq!((&exited["code"], &exited["signal"]), (&Value::Null, &json!(9)));
    let mut beyond = Viewer::open(&daemon, &id, "?after=99").await;
    let gap = beyond.text().await;
    assert_eq!((&gap["type"], &gap["oldest"]), (&json!("gap"), &json!(1)));
}

/// What nobody understands ends the connection with a reason, and the process goes on.
#[tokio::test]
async fn what_is_not_a_command_is_refused() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh_on_terminal(&daemon, RAW_CAT).await;
    for command in ["resize", "{}", r#"{"type":"beep"}"#, r#"{"type":"resize","columns":0,"rows":1}"#] {
        let mut viewer = Viewer::open(&daemon, &id, "").await;
        viewer.says(command).await;
        assert_eq!(viewer.closed().await, Some(1007), "{command}");
    }
    let process: Value = daemon.get(&path(&id, "")).await.json().await.unwrap();
    assert_eq!(process["state"], "running");
}

/// One who does not read holds up neither the process nor the others, and is told what it missed.
#[tokio::test]
async fn a_stalled_viewer_holds_up_nobody() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh_on_terminal(&daemon, "stty raw; read x; head -c 30000000 /dev/zero; echo end").await;
    let mut stalled = Viewer::open(&daemon, &id, "").await;
    let mut typing = Viewer::open(&daemon, &id, "").await;
    typing.types(b"\n").await;
    typing.leaves().await;
    ended(&daemon, &id).await;
    assert_eq!(stalled.text().await["type"], "gap");
    assert_eq!(stalled.text().await["type"], "exited");
    assert_eq!(stalled.closed().await, Some(1000));
}

/// Typing more than a process reads makes the typist wait and loses nothing.
#[tokio::test]
async fn what_is_typed_ahead_arrives_whole() {
    let daemon = TestDaemon::start(TOMBOLO);
    let script = "stty raw -echo; echo ready; read x; head -c 3000000 | cksum";
    let id = sh_on_terminal(&daemon, script).await;
    let mut viewer = Viewer::open(&daemon, &id, "").await;
    viewer.shows(b"ready").await;
    viewer.types(b"\n").await;
    for _ in 0..30 {
        viewer.types(&[b'x'; 100_000]).await;
    }
    let zeros = std::process::Command::new("sh")
        .args(["-c", "head -c 3000000 /dev/zero | tr '\\0' x | cksum"])
        .output();
    viewer.shows(zeros.unwrap().stdout.trim_ascii()).await;
}

/// A frame beyond the limit ends the connection, and none of it reaches the process; what is typed on another one does.
#[tokio::test]
async fn a_frame_that_is_too_large_is_not_taken() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh_on_terminal(&daemon, RAW_CAT).await;
    let mut greedy = Viewer::open(&daemon, &id, "").await;
    greedy.shows(b"ready").await;
    greedy.types_what_is_refused(&vec![b'x'; (1 << 20) + 1]).await;
    greedy.closed().await;
    let mut viewer = Viewer::open(&daemon, &id, "").await;
    viewer.types(b"still here.").await;
    let shown = viewer.shows(b"still here.").await;
    assert!(!shown.contains(&b'x'));
}
