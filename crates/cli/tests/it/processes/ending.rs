//! daemon-13: "signal", "DELETE"; daemon-4: an end in order with streams open.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::{TestDaemon, within, within_blocking};

use super::{viewer::Viewer, *};
use crate::{check_problem, problem, secs};

/// A child that ignores TERM, and one that left the group; tells their ids.
const FAMILY: &str = "import os,signal,time\nsignal.signal(signal.SIGTERM,signal.SIG_IGN)\npids=[os.getpid()]\nfor leave in (0,1):\n p=os.fork()\n if p==0:\n  if leave: os.setsid()\n  time.sleep(600)\n pids.append(p)\nprint(*pids,flush=True)\nwhile 1: time.sleep(600)";

async fn family(daemon: &TestDaemon) -> (String, Vec<u64>) {
    let process = start(daemon, &json!({ "command": "python3", "args": ["-c", FAMILY] })).await;
    let id = process["id"].as_str().unwrap().to_owned();
    let (mut events, mut told) = (follow(daemon, &id).await, String::new());
    while !told.ends_with('\n') {
        told += &within(secs(20), text(&mut events)).await;
    }
    let pids: Vec<u64> = told.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    assert!(pids.len() == 3 && pids.iter().all(|pid| lives(*pid)), "{told:?}");
    (id, pids)
}

/// Whether a process runs; one that waits to be reaped does not.
fn lives(pid: u64) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

#[tokio::test]
async fn a_signal_arrives() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh(&daemon, "trap 'exit 7' USR1; echo ready; while :; do sleep 0.01; done").await;
    within(secs(20), text(&mut follow(&daemon, &id).await)).await;
    let signal = |name: &str| json!({ "signal": name });
    assert_eq!(daemon.post(&path(&id, "/signal"), &signal("USR1")).await.status(), 204);
    assert_eq!(ended(&daemon, &id).await["exit"]["code"], 7);
    let late = problem(daemon.post(&path(&id, "/signal"), &signal("USR1")).await).await;
    check_problem(&late, 409, "urn:problem:process-ended");

    let id = sh(&daemon, "sleep 600").await;
    assert_eq!(daemon.post(&path(&id, "/signal"), &signal("KILL")).await.status(), 204);
    let exit = &ended(&daemon, &id).await["exit"];
    assert_eq!((&exit["code"], &exit["signal"]), (&Value::Null, &json!(9)));
}

#[tokio::test]
async fn nobody_survives_a_delete() {
    let daemon = TestDaemon::start(TOMBOLO);
    let (id, pids) = family(&daemon).await;
    let events = follow(&daemon, &id).await;
    let start = Instant::now();
    assert_eq!(daemon.delete(&path(&id, "")).await.status(), 204);
    assert!(start.elapsed() < Duration::from_millis(3500), "{:?}", start.elapsed());
    assert_eq!(pids.iter().filter(|pid| lives(**pid)).count(), 0);
    assert_eq!(within(secs(20), events.rest()).await.last().unwrap().event, "exited");
    check_problem(&problem(daemon.get(&path(&id, "")).await).await, 404, "urn:problem:process-not-found");
}

/// With followers and viewers, one of whom reads late, the daemon ends in order: everybody is told, and nobody is left.
#[tokio::test]
async fn the_daemon_ends_in_order_with_everything_open() {
    let daemon = TestDaemon::start(TOMBOLO);
    let (id, pids) = family(&daemon).await;
    let quiet = sh_on_terminal(&daemon, "echo ready; sleep 600").await;
    let flood = sh_on_terminal(&daemon, "read x; head -c 30000000 /dev/zero; touch flooded; sleep 600").await;
    let events = follow(&daemon, &id).await;
    let mut viewer = Viewer::open(&daemon, &quiet, "").await;
    viewer.shows(b"ready").await;
    let mut late = Viewer::open(&daemon, &flood, "").await;
    late.types(b"\n").await;
    within_blocking(secs(20), || daemon.home().join("flooded").exists());
    let start = Instant::now();
    daemon.signal("TERM");
    assert_eq!(within(secs(10), events.rest()).await.last().unwrap().event, "exited");
    assert_eq!(viewer.text().await["type"], "exited");
    assert_eq!(viewer.closed().await, Some(1000));
    // A viewer that is behind while the flood continues may fall behind again and gets another gap.
    assert_eq!(late.text().await["type"], "gap");
    let mut next = late.text().await["type"].clone();
    while next == "gap" {
        next = late.text().await["type"].clone();
    }
    assert_eq!(next, "exited");
    assert_eq!(late.closed().await, Some(1000));
    let (code, _) = daemon.wait_for_exit();
    assert_eq!(code, Some(0));
    assert!(start.elapsed() < secs(9), "{:?}", start.elapsed());
    assert_eq!(pids.iter().filter(|pid| lives(**pid)).count(), 0);
}

/// One who never reads does not hold the daemon.
#[tokio::test]
async fn the_daemon_ends_although_a_viewer_never_reads() {
    let daemon = TestDaemon::start(TOMBOLO);
    let flood = sh_on_terminal(&daemon, "read x; head -c 30000000 /dev/zero; touch flooded; sleep 600").await;
    let mut stalled = Viewer::open(&daemon, &flood, "").await;
    stalled.types(b"\n").await;
    within_blocking(secs(20), || daemon.home().join("flooded").exists());
    let start = Instant::now();
    daemon.signal("TERM");
    let (code, _) = daemon.wait_for_exit();
    assert_eq!(code, Some(0));
    assert!(start.elapsed() < secs(9), "{:?}", start.elapsed());
    drop(stalled);
}

/// Starts a process that prints the id of a grandchild, which has left its group and session.
async fn with_grandchild(daemon: &TestDaemon, script: &str) -> (String, u64) {
    let id = sh(daemon, script).await;
    let (mut events, mut told) = (follow(daemon, &id).await, String::new());
    while !told.ends_with('\n') {
        told += &within(secs(20), text(&mut events)).await;
    }
    let grandchild = told.trim().parse().unwrap();
    assert!(lives(grandchild));
    (id, grandchild)
}

#[tokio::test]
async fn a_daemonised_grandchild_without_an_environment_does_not_survive_a_delete() {
    let daemon = TestDaemon::start(TOMBOLO);
    let script = "(setsid env -i sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1' &); exec sleep 600";
    let (id, grandchild) = with_grandchild(&daemon, script).await;
    assert_eq!(daemon.delete(&path(&id, "")).await.status(), 204);
    within_blocking(secs(5), || !lives(grandchild));
}

#[tokio::test]
async fn the_next_start_ends_what_a_killed_daemon_left_behind() {
    let mut daemon = TestDaemon::start(TOMBOLO);
    let script = "(setsid sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1' &); exec sleep 600";
    let (_, grandchild) = with_grandchild(&daemon, script).await;
    daemon.kill_and_restart();
    within_blocking(secs(5), || !lives(grandchild));
}

/// Daemonised processes with an empty environment, which nothing but their id and start time connects with the daemon: one
/// that is still below its parent and one that has lost it, each with a child of its own.
#[tokio::test]
async fn the_next_start_ends_processes_that_cleared_their_environment() {
    let mut daemon = TestDaemon::start(TOMBOLO);
    let hidden = "setsid env -i sh -c 'sleep 600 & echo $!; echo $$; exec sleep 600' 2>&1";
    let script = format!("{hidden} & ({hidden} &); exec sleep 600");
    let id = sh(&daemon, &script).await;
    let (mut events, mut told) = (follow(&daemon, &id).await, String::new());
    while told.lines().count() < 4 || !told.ends_with('\n') {
        told += &within(secs(20), text(&mut events)).await;
    }
    let pids: Vec<u64> = told.lines().map(|pid| pid.trim().parse().unwrap()).collect();
    let record = daemon.home().join(".local/share/tombolo/children.lock");
    within_blocking(secs(20), || {
        let record = std::fs::read_to_string(&record).unwrap();
        pids.iter().all(|pid| record.contains(&format!("\n{pid} ")))
    });
    daemon.kill_and_restart();
    within_blocking(secs(5), || !pids.iter().any(|pid| lives(*pid)));
}
