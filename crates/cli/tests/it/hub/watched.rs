//! What somebody sees.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use super::*;

/// observation-28, observation-38, observation-39, observation-41, observation-42, observation-72: the snapshot and then everything that happens, as the daemon has it, in
/// envelopes of the hub.
#[tokio::test]
async fn a_session_is_watched_through_the_hub() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    let mut viewer = Viewer::new(&hub, "s", None).await;
    let begun = viewer.until("event").await;
    let snapshot = ask(&daemon, Method::GET, "/v1/sessions/s/snapshot", None).await;
    assert_eq!(begun["payload"]["snapshot"], snapshot);
    assert_eq!(viewer.until("control").await["type"], "live");
    send(&daemon, "s", "/tool\n/plan\nhello").await;
    let seen = viewer.until_event("turnEnded").await;
    let told = events(&daemon, "s").await;
    let from = snapshot["seq"].as_u64().unwrap() as usize;
    let payloads: Vec<_> = seen.iter().map(|envelope| envelope["payload"].clone()).collect();
    assert_eq!(payloads, told[from..from + seen.len()]);
    for envelope in &seen {
        assert_eq!((&envelope["runtime_id"], &envelope["worker_id"]), (&json!("box"), &json!("s")));
        assert_eq!(envelope["event_id"], envelope["cursor"]);
    }
}

/// observation-71: whoever comes later gets what the daemon itself would say by then, without asking it.
#[tokio::test]
async fn what_the_hub_knows_is_what_the_daemon_knows() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    let mut first = Viewer::new(&hub, "s", None).await;
    first.until("control").await;
    for (message, last) in [
        ("/tool\n/edit\n/think hm", "turnEnded"),
        ("/plan\n/commands\n/chunks 20", "turnEnded"),
        ("/fail -32000 no", "turnEnded"),
        ("/permission", "permissionAsked"),
    ] {
        send(&daemon, "s", message).await;
        first.until_event(last).await;
    }
    send(&daemon, "s", "waits for its turn").await;
    first.until_event("input").await;
    // Both are asked once nothing more is to come.
    let mut theirs = ask(&daemon, Method::GET, "/v1/sessions/s/snapshot", None).await;
    let mut ours = Value::Null;
    within(secs(20), async {
        while ours["seq"] != theirs["seq"] {
            theirs = ask(&daemon, Method::GET, "/v1/sessions/s/snapshot", None).await;
            ours = Viewer::new(&hub, "s", None).await.until("event").await["payload"]["snapshot"].clone();
        }
    })
    .await;
    // What events do not tell.
    for snapshot in [&mut theirs, &mut ours] {
        snapshot["session"]["updatedAt"] = Value::Null;
        snapshot["session"]["agentSessionId"] = Value::Null;
        for wait in snapshot["waits"].as_array_mut().unwrap() {
            (wait["openedAt"], wait["expiresAt"]) = (Value::Null, Value::Null);
        }
        for input in snapshot["inputs"].as_array_mut().unwrap() {
            input["acceptedAt"] = Value::Null;
        }
    }
    assert_eq!(theirs["waits"].as_array().unwrap().len(), 1);
    assert_eq!(theirs["inputs"].as_array().unwrap().len(), 1);
    assert_eq!(ours, theirs);
}

/// observation-44, observation-51, observation-60: a cursor of the hub goes on where it was.
#[tokio::test]
async fn a_cursor_goes_on() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    let mut viewer = Viewer::new(&hub, "s", None).await;
    let cursor = viewer.until("event").await["cursor"].as_str().unwrap().to_owned();
    send(&daemon, "s", "hello").await;
    let seen = viewer.until_event("turnEnded").await;
    let mut again = Viewer::new(&hub, "s", Some(&cursor)).await;
    assert!(again.until("event").await["payload"]["snapshot"].is_object());
    let replayed = again.until_event("turnEnded").await;
    assert!(replayed.iter().all(|envelope| envelope["replay"] == true));
    let ids = |envelopes: &[Value]| envelopes.iter().map(|e| e["event_id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&replayed), ids(&seen));
}

/// The commands of the hub do what its API does.
#[tokio::test]
async fn the_hub_is_asked_on_the_command_line() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    let tombolo = |args: &[&str]| {
        let mut command = std::process::Command::new(TOMBOLO);
        command.args(["hub"]).args(args).env("TOMBOLO_HUB", hub.base()).env("TOMBOLO_HUB_TOKEN", hub.token());
        let output = command.env("TOMBOLO_TOKEN", TOKEN).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, said, _) = tombolo(&["runtimes", "add", "again", "--at", daemon.base()]);
    assert!(code == Some(0) && said.contains("again"), "{said}");
    let (_, said, _) = tombolo(&["runtimes", "list"]);
    assert!(said.contains("box") && said.contains("again") && !said.contains("127.0.0.1"), "{said}");
    let (_, said, _) = tombolo(&["runtimes", "get", "again"]);
    assert!(said.contains("yes"), "{said}");
    let (_, said, _) = tombolo(&["workers", "list", "again"]);
    assert!(said.contains("mock"), "{said}");
    assert_eq!(tombolo(&["runtimes", "remove", "again"]).0, Some(0));
    let (code, _, told) = tombolo(&["workers", "list", "again"]);
    assert!(code != Some(0) && told.contains("runtime `again` does not exist"), "{told}");
    // Issue 17: "`hub workers watch` renders like chat (`--json` for frames)".
    create(&daemon, "w").await;
    send(&daemon, "w", "hello\n/tool").await;
    within(secs(30), async {
        while events(&daemon, "w").await.iter().all(|event| event["turnEnded"].is_null()) {}
    })
    .await;
    let mut watch = std::process::Command::new(TOMBOLO);
    watch.args(["hub", "workers", "watch", "box", "w"]).env("TOMBOLO_HUB", hub.base());
    let watch =
        watch.env("TOMBOLO_HUB_TOKEN", hub.token()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut watch = watch.unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut until = |expected: &str| lines.by_ref().take_while(|line| !line.contains(expected)).count();
    until("session w");
    assert_eq!(until("user > hello"), 0);
    until("List files");
    send(&daemon, "w", "live text").await;
    until("user > live text");
    assert_eq!(lines.next().as_deref(), Some("live text"));
    watch.kill().unwrap();
    watch.wait().unwrap();
    ask(&daemon, Method::DELETE, "/v1/sessions/s", None).await;
    let (code, _, told) = tombolo(&["workers", "watch", "box", "s"]);
    assert!(code != Some(0) && told.contains("has no worker `s`"), "{told}");
}
