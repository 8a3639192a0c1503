//! Orphans that have left the child's group, session and mark. Each test runs in its own process, because a subreaper
//! adopts all orphans of the process.

use std::future::Future;
use std::process::{Command, Stdio};
use std::time::Duration;

use process::{LineProcess, OrphanReaper, ProcessControl};

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

/// Starts a script that prints the pid of a hidden process.
async fn start(script: &str) -> (LineProcess, Identity) {
    let mut child = spawn(&sh(script).grace(GRACE)).await;
    let hidden = one_line(&mut child.stdout).await.parse().unwrap();
    (child, Identity::of(hidden))
}

async fn stop(control: &ProcessControl) {
    within(PATIENCE, control.stop()).await;
}

/// A process outside of group, session and mark, below a shell that keeps running.
const BELOW: &str = "setsid env -i sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1' & wait";

/// The same, without a parent from the beginning.
const LOST: &str = "(setsid env -i sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1' &); exec sleep 600";

/// relay-53: descendants are found, whatever they have left, even without a subreaper.
#[tokio::test]
async fn a_hidden_descendant_does_not_survive() {
    alone("a_hidden_descendant_does_not_survive", async {
        let (child, hidden) = start(BELOW).await;
        stop(&child.control).await;
        assert!(!hidden.lives() && !child.control.has_survivors());
        // Control: an orphan is not found without a subreaper.
        let (child, hidden) = start(LOST).await;
        stop(&child.control).await;
        assert!(hidden.lives(), "control");
        kill(hidden);
    })
    .await;
}

/// relay-53: with a subreaper, an orphan does not survive.
#[tokio::test]
async fn an_orphan_does_not_survive() {
    alone("an_orphan_does_not_survive", async {
        let _orphans = OrphanReaper::enable().unwrap();
        for script in [BELOW, LOST] {
            let (child, hidden) = start(script).await;
            stop(&child.control).await;
            assert!(!hidden.lives() && !child.control.has_survivors(), "{script}");
        }
        // The same when all handles are dropped.
        let (child, hidden) = start(LOST).await;
        drop(child);
        within(PATIENCE, process::wait_for_all()).await;
        assert!(!hidden.lives());
    })
    .await;
}

/// relay-53: an orphan that may belong to another child is left alone and reported; it ends with the last candidate.
#[tokio::test]
async fn an_ambiguous_orphan_is_left_alone_and_reported() {
    alone("an_ambiguous_orphan_is_left_alone_and_reported", async {
        let _orphans = OrphanReaper::enable().unwrap();
        let (other, marked) = start("(setsid sh -c 'echo $$; exec sleep 600' &); exec sleep 600").await;
        let (child, lost) = start(LOST).await;
        stop(&child.control).await;
        assert!(child.control.has_survivors() && lost.lives(), "its owner is ambiguous");
        assert!(marked.lives(), "it belongs to another child");
        let (later, below) = start(BELOW).await;
        stop(&later.control).await;
        assert!(!below.lives());
        assert!(lost.lives() && !later.control.has_survivors(), "it was started earlier");
        stop(&other.control).await;
        assert!(!lost.lives() && !marked.lives() && !other.control.has_survivors());
    })
    .await;
}

/// relay-157: when all candidates end together, their orphans are killed although the owner is unknown.
#[tokio::test]
async fn orphans_of_children_that_end_together_do_not_survive() {
    alone("orphans_of_children_that_end_together_do_not_survive", async {
        let _orphans = OrphanReaper::enable().unwrap();
        let (first, second) = (start(LOST).await, start(LOST).await);
        tokio::join!(stop(&first.0.control), stop(&second.0.control));
        for (child, hidden) in [first, second] {
            assert!(!hidden.lives() && !child.control.has_survivors());
        }
    })
    .await;
}

/// Children from before are left alone, and so are orphans that may be theirs.
#[tokio::test]
async fn children_from_before_are_left_alone() {
    alone("children_from_before_are_left_alone", async {
        let mut before =
            Command::new("sleep").arg("600").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let stranger = Identity::of(before.id());
        let _orphans = OrphanReaper::enable().unwrap();
        let (child, hidden) = start(LOST).await;
        stop(&child.control).await;
        assert!(stranger.lives() && hidden.lives() && child.control.has_survivors());
        kill(hidden);
        before.kill().unwrap();
        before.wait().unwrap();
    })
    .await;
}

/// Dead orphans would stay zombies without a reaper.
#[tokio::test]
async fn dead_orphans_are_reaped() {
    alone("dead_orphans_are_reaped", async {
        let orphans = OrphanReaper::enable().unwrap();
        let scene = async {
            let mut child = spawn(&sh("(setsid env -i sh -c 'echo $$' &); exec sleep 600")).await;
            let orphan: u32 = one_line(&mut child.stdout).await.parse().unwrap();
            let path = format!("/proc/{orphan}");
            until(PATIENCE, "the orphan is reaped", || !std::fs::exists(&path).unwrap()).await;
            // Registered children are left to their supervisors.
            let mut second = spawn(&sh("exit 7")).await;
            assert_eq!(some_lines(&mut second.stdout).await, None);
            assert_eq!(within(PATIENCE, second.control.wait()).await.code, Some(7));
        };
        tokio::select! {
            failed = orphans.reap_orphans() => panic!("{failed:?}"),
            () = scene => {}
        }
    })
    .await;
}

fn kill(process: Identity) {
    let pid = rustix::process::Pid::from_raw(process.pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}
