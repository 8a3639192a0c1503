//! Runtimes that a file names.

use std::{fs, path::Path};

use super::*;
use crate::{check_problem, problem};

/// A daemon with a session, and a file that names it as `box`, with its token in a file of its own.
async fn named(file: &Path) -> TestDaemon {
    let daemon = TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    create(&daemon, "s").await;
    fs::write(file.with_file_name("token"), TOKEN).unwrap();
    fs::write(file, json!([{ "id": "box", "endpoint": daemon.base(), "tokenFile": "token" }]).to_string())
        .unwrap();
    daemon
}

/// A hub with such a file, and this besides.
fn with_names(file: &Path, args: &[&str]) -> TestHub {
    TestHub::start_with(TOMBOLO, &[&["--runtimes", file.to_str().unwrap()], args].concat())
}

/// What a file names is known like what was added, and only the file can take it away: then those who watch are told.
#[tokio::test]
async fn a_runtime_is_there_while_a_file_names_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("runtimes.json");
    let daemon = named(&file).await;
    let hub = with_names(&file, &[]);
    let mut viewer = Viewer::new(&hub, "s", None).await;
    viewer.until("control").await;
    let kept = hub.request(Method::DELETE, "/api/runtimes/box").send().await.unwrap();
    check_problem(&problem(kept).await, 409, "urn:problem:runtime-named");
    // One that is no good changes nothing.
    fs::write(&file, "[{}]").unwrap();
    hub.send_sighup();
    let told = async {
        while !hub.log().contains("could not reload the runtimes file; keeping the previous one") {
            tokio::task::yield_now().await;
        }
    };
    within(secs(20), told).await;
    assert_eq!(get(&hub, "/api/runtimes/box").await["isReachable"], true);
    fs::write(&file, "[]").unwrap();
    hub.send_sighup();
    let (last, _) = viewer.end().await;
    assert_eq!(last["diagnostic"]["code"], "backend.worker_not_found", "{last}");
    assert_eq!(get(&hub, "/api/runtimes").await["items"], json!([]));
    assert!(!viewer.received.contains(daemon.base()) && !hub.log().contains(TOKEN));
}

/// observation-58: of a worker so much is kept as was said; who comes back too late is told.
#[tokio::test]
async fn how_much_is_kept_of_a_worker_can_be_said() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("runtimes.json");
    let daemon = named(&file).await;
    let hubs = [with_names(&file, &[]), with_names(&file, &["--backlog-max", "4"])];
    let mut cursors = Vec::new();
    for hub in &hubs {
        let snapshot = Viewer::new(hub, "s", None).await.until("event").await;
        cursors.push(snapshot["cursor"].as_str().unwrap().to_owned());
    }
    send(&daemon, "s", "one two three four five six").await;
    let [much, little] = &hubs;
    assert_eq!(found_after(much, &cursors[0]).await, "turnEnded");
    // The first time may be before all of it was heard.
    within(secs(30), async { while found_after(little, &cursors[1]).await != "backend.cursor_expired" {} })
        .await;
}

/// What somebody finds who comes back: the end of the turn, or why they do not.
async fn found_after(hub: &TestHub, cursor: &str) -> String {
    let mut viewer = Viewer::new(hub, "s", Some(cursor)).await;
    loop {
        match viewer.next().await {
            Ok(frame) if frame["envelope"]["payload"].get("turnEnded").is_some() => {
                return "turnEnded".into();
            }
            Ok(frame) if frame["kind"] == "diagnostic" => {
                return frame["diagnostic"]["code"].as_str().unwrap().into();
            }
            Ok(_) => {}
            Err(ended) => return format!("{ended:?}"),
        }
    }
}
