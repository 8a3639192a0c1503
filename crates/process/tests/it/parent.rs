//! A child dies with its parent, however that dies.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::support::*;

/// Set in the process that this test starts from its own binary, to make it a parent.
const PARENT: &str = "PROCESS_TEST_PARENT";

/// acp #21: nobody survives, even when we are killed without a word.
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
    let told = BufReader::new(parent.stdout.take().unwrap());
    let pid = told.lines().find_map(|line| line.unwrap().split_once("child=")?.1.parse().ok()).unwrap();
    let child = Identity::of(pid);
    // Longer than tokio keeps an idle blocking thread would be better, but ten seconds are too long for a test; the
    // thread that started the child is checked by its name instead.
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
