//! A child dies with its parent, however the parent ends.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::support::*;

/// Set in the process that this test starts from its own binary, to make it a parent.
const PARENT: &str = "PROCESS_TEST_PARENT";

/// acp-21: no child survives, even when the parent is killed.
#[tokio::test]
async fn a_child_dies_when_its_parent_is_killed() {
    if std::env::var_os(PARENT).is_some() {
        return be_the_parent().await;
    }
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "parent::a_child_dies_when_its_parent_is_killed", "--nocapture"])
        .env(PARENT, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(parent.stdout.take().unwrap());
    let pid = output.lines().find_map(|line| line.unwrap().split_once("child=")?.1.parse().ok()).unwrap();
    let child = Identity::of(pid);
    assert!(child.lives());
    parent.kill().unwrap();
    parent.wait().unwrap();
    until(PATIENCE, "the child dies with its parent", || !child.lives()).await;
}

async fn be_the_parent() {
    let child = spawn(&sh("trap '' TERM; while :; do sleep 0.01; done")).await;
    println!("child={}", child.control.pid());
    std::future::pending::<()>().await;
}

/// The kernel's parent-death signal refers to the thread that forked, which may end long before the process.
#[test]
fn a_child_outlives_the_thread_that_requested_it() {
    let requester = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let child = runtime.block_on(spawn(&sh("exec cat")));
        (child, runtime)
    });
    let (mut child, runtime) = requester.join().unwrap();
    runtime.block_on(async {
        child.stdin.try_send("alive".into()).unwrap();
        assert_eq!(one_line(&mut child.stdout).await, "alive");
    });
}

/// A caller that only drops the handles can still wait for the end. It runs in its own process, without other children.
#[tokio::test]
async fn the_end_of_all_children_can_be_awaited() {
    const ALONE: &str = "PROCESS_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "parent::the_end_of_all_children_can_be_awaited"]).env(ALONE, "1");
        assert!(command.status().unwrap().success());
        return;
    }
    let mut child = spawn(&sh("trap '' TERM; echo ready; while :; do sleep 0.01; done")).await;
    one_line(&mut child.stdout).await;
    let identity = Identity::of(child.control.pid());
    let early = tokio::time::timeout(std::time::Duration::from_millis(50), process::wait_for_all()).await;
    assert!(early.is_err(), "a child was held");
    drop(child);
    within(PATIENCE, process::wait_for_all()).await;
    assert!(!identity.lives());
}
