//! Whoever leaves the group, the session and the mark behind, and loses their parent. Each test is in a process of its own:
//! it takes in the orphans of all of it.

use std::future::Future;
use std::process::{Command, Stdio};
use std::time::Duration;

use process::{Control, Orphans, Process};

use crate::support::*;

/// Set in the process that a test starts from its own binary.
const ALONE: &str = "PROCESS_TEST_ORPHANS";

const GRACE: Duration = Duration::from_millis(300);

/// Runs a test in a process that has no other children.
async fn alone(name: &str, test: impl Future<Output = ()>) {
    if std::env::var_os(ALONE).is_some() {
        return test.await;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("orphans::{name}"), "--nocapture"]).env(ALONE, "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Starts a script that tells the pid of somebody who hides.
async fn start(script: &str) -> (Process, Identity) {
    let mut child = spawn(&sh(script).grace(GRACE)).await;
    let hidden = one_line(&mut child.stdout).await.parse().unwrap();
    (child, Identity::of(hidden))
}

async fn stop(control: &Control) {
    within(PATIENCE, control.stop()).await;
}

/// Hides from group, session and mark below a shell that stays.
const BELOW: &str = "setsid env -i sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1' & wait";

/// The same, and has lost its parent from the beginning.
const LOST: &str = "(setsid env -i sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1' &); exec sleep 600";

/// relay-53: who is below the child is found, whatever they have left behind, also where orphans are not taken in.
#[tokio::test]
async fn who_is_below_a_child_does_not_survive() {
    alone("who_is_below_a_child_does_not_survive", async {
        let (child, hidden) = start(BELOW).await;
        stop(&child.control).await;
        assert!(!hidden.lives() && !child.control.survived());
        // Control: who has lost their parent is found by nobody.
        let (child, hidden) = start(LOST).await;
        stop(&child.control).await;
        assert!(hidden.lives(), "control");
        kill(hidden);
    })
    .await;
}

/// relay-53: who has lost their parent does not survive where orphans are taken in.
#[tokio::test]
async fn an_orphan_does_not_survive() {
    alone("an_orphan_does_not_survive", async {
        let _orphans = Orphans::take_in().unwrap();
        for script in [BELOW, LOST] {
            let (child, hidden) = start(script).await;
            stop(&child.control).await;
            assert!(!hidden.lives() && !child.control.survived(), "{script}");
        }
        // Nor where all handles are dropped.
        let (child, hidden) = start(LOST).await;
        drop(child);
        within(PATIENCE, process::all_gone()).await;
        assert!(!hidden.lives());
    })
    .await;
}

/// relay-53: who may be of another child is left alone, and that is told; with the last one they end.
#[tokio::test]
async fn an_orphan_that_may_be_of_another_child_is_told() {
    alone("an_orphan_that_may_be_of_another_child_is_told", async {
        let _orphans = Orphans::take_in().unwrap();
        let (other, marked) = start("(setsid sh -c 'echo $$; exec sleep 600' &); exec sleep 600").await;
        let (child, lost) = start(LOST).await;
        stop(&child.control).await;
        assert!(child.control.survived() && lost.lives(), "it cannot be told whose it is");
        assert!(marked.lives(), "it is of another");
        let (later, below) = start(BELOW).await;
        stop(&later.control).await;
        assert!(!below.lives());
        assert!(lost.lives() && !later.control.survived(), "it was there before");
        stop(&other.control).await;
        assert!(!lost.lives() && !marked.lives() && !other.control.survived());
    })
    .await;
}

/// relay-157: those who end together leave nobody, although nobody knows whose they were.
#[tokio::test]
async fn orphans_of_children_that_end_together_do_not_survive() {
    alone("orphans_of_children_that_end_together_do_not_survive", async {
        let _orphans = Orphans::take_in().unwrap();
        let (first, second) = (start(LOST).await, start(LOST).await);
        tokio::join!(stop(&first.0.control), stop(&second.0.control));
        for (child, hidden) in [first, second] {
            assert!(!hidden.lives() && !child.control.survived());
        }
    })
    .await;
}

/// Who was there before is left alone, and so is whoever may be of theirs.
#[tokio::test]
async fn children_from_before_are_left_alone() {
    alone("children_from_before_are_left_alone", async {
        let mut before =
            Command::new("sleep").arg("600").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let stranger = Identity::of(before.id());
        let _orphans = Orphans::take_in().unwrap();
        let (child, hidden) = start(LOST).await;
        stop(&child.control).await;
        assert!(stranger.lives() && hidden.lives() && child.control.survived());
        kill(hidden);
        before.kill().unwrap();
        before.wait().unwrap();
    })
    .await;
}

/// Nobody else waits for orphans, so they would stay as zombies.
#[tokio::test]
async fn dead_orphans_are_buried() {
    alone("dead_orphans_are_buried", async {
        let orphans = Orphans::take_in().unwrap();
        let scene = async {
            let mut child = spawn(&sh("(setsid env -i sh -c 'echo $$' &); exec sleep 600")).await;
            let orphan: u32 = one_line(&mut child.stdout).await.parse().unwrap();
            let path = format!("/proc/{orphan}");
            until(PATIENCE, "the orphan is buried", || !std::fs::exists(&path).unwrap()).await;
            // Whose end matters is left to those who wait for it.
            let mut second = spawn(&sh("exit 7")).await;
            assert_eq!(some_lines(&mut second.stdout).await, None);
            assert_eq!(within(PATIENCE, second.control.wait()).await.code, Some(7));
        };
        tokio::select! {
            failed = orphans.bury() => panic!("{failed:?}"),
            () = scene => {}
        }
    })
    .await;
}

fn kill(process: Identity) {
    let pid = rustix::process::Pid::from_raw(process.pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}
