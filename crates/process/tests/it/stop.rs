//! Stopping: no process survives, and no call takes longer than promised.

use std::time::Duration;

use process::{ChildExit, Error, LineProcess, ProcessControl, ProcessSpec, Signal};
use tokio::time::Instant;

use crate::support::*;

const GRACE: Duration = Duration::from_millis(600);
/// What `stop` may take beyond the grace.
const BEYOND: Duration = Duration::from_millis(500);

/// Starts `spec` and reads the pids of the processes that must not survive.
async fn start(spec: ProcessSpec, pids: usize) -> (LineProcess, Vec<Identity>) {
    let mut child = spawn(&spec.grace(GRACE)).await;
    let mut identities = vec![Identity::of(child.control.pid())];
    while identities.len() <= pids {
        let lines = some_lines(&mut child.stdout).await.expect("pids");
        identities.extend(lines.iter().map(|pid| Identity::of(pid.parse().unwrap())));
    }
    (child, identities)
}

/// Stops the child and checks the time limit and that no process is left.
async fn stop(control: &ProcessControl, them: &[Identity]) -> (ChildExit, Duration) {
    let start = Instant::now();
    let exit = within(PATIENCE, control.stop()).await;
    let took = start.elapsed();
    let left: Vec<_> = them.iter().filter(|it| it.lives()).collect();
    assert!(left.is_empty(), "{left:?} survived");
    assert!(took < GRACE + BEYOND, "stopping took {took:?}");
    (exit, took)
}

/// acp-21
#[tokio::test]
async fn a_child_that_exits_at_the_end_of_its_input_stops_at_once() {
    let (child, them) = start(sh("trap '' TERM; echo $$; read line; exit 4"), 1).await;
    let (exit, took) = stop(&child.control, &them).await;
    println!("stopped by end of input in {took:?}");
    assert_eq!(exit.code, Some(4));
    assert!(took < GRACE / 4, "{took:?}");
}

/// acp-21
#[tokio::test]
async fn a_child_that_handles_term_stops_within_its_grace_period() {
    let script = "import signal, sys, time, os; signal.signal(15, lambda *_: sys.exit(9)); print(os.getpid())\n\
                  while True: time.sleep(60)";
    let (child, them) = start(python(script), 1).await;
    let (exit, took) = stop(&child.control, &them).await;
    println!("stopped by TERM in {took:?}");
    assert_eq!(exit.code, Some(9));
    assert!(took >= GRACE / 4 && took < GRACE, "{took:?}");
}

/// acp-21: "the process group is gone within the grace period".
#[tokio::test]
async fn a_child_that_ignores_term_and_the_end_of_its_input_is_killed() {
    let (child, them) = start(sh("trap '' TERM; echo $$; while :; do sleep 0.01; done"), 1).await;
    let (exit, took) = stop(&child.control, &them).await;
    println!("stopped by KILL in {took:?}, grace {GRACE:?}");
    assert_eq!(exit, ChildExit { code: None, signal: Some(9) });
    assert!(took >= GRACE, "its grace was cut short: {took:?}");
}

/// acp-21: "a grandchild that ignores TERM too", after its parent has exited, while it holds the pipes open.
#[tokio::test]
async fn a_grandchild_that_ignores_term_is_killed_after_the_leader_has_exited() {
    let script = "(trap '' TERM; sh -c 'echo $PPID; while :; do sleep 0.01; done') & read line";
    let (child, them) = start(sh(script), 1).await;
    let (exit, took) = stop(&child.control, &them).await;
    assert_eq!(exit.signal, None);
    assert!(took >= GRACE, "the group's grace was cut short: {took:?}");
}

/// acp-21: a process that handles SIGTERM gets its time even when the leader has exited.
#[tokio::test]
async fn a_grandchild_has_time_to_handle_term() {
    let dir = tempfile::tempdir().unwrap();
    let script = "import os, signal, sys, time\nif os.fork(): sys.stdin.read(); sys.exit()\n\
                  def bye(*_): time.sleep(.1); open('bye', 'w'); sys.exit()\n\
                  signal.signal(15, bye); print(os.getpid())\nwhile True: time.sleep(60)";
    let (child, them) = start(python(script).cwd(dir.path()), 1).await;
    let (_, took) = stop(&child.control, &them).await;
    assert!(dir.path().join("bye").exists(), "it was killed after {took:?}");
    assert!(took < GRACE, "{took:?}");
}

/// acp-21: a process that has moved to a session of its own is found by its mark.
#[tokio::test]
async fn a_grandchild_that_left_the_group_does_not_survive() {
    let script = "import os, signal, time\n\
                  if os.fork() == 0:\n os.setsid()\n\
                  \x20if os.fork() == 0:\n  signal.signal(15, signal.SIG_IGN); signal.signal(1, signal.SIG_IGN)\n\
                  \x20 os.write(1, b'%d\\n' % os.getpid()); os.closerange(0, 3)\n  time.sleep(600)\n os._exit(0)\n\
                  os.wait(); input()";
    let (child, them) = start(python(script), 1).await;
    let (_, took) = stop(&child.control, &them).await;
    println!("stopped with an escapee in {took:?}");
}

/// acp-21: a process that leaves the group repeatedly is caught.
#[tokio::test]
async fn a_process_that_forks_and_leaves_the_group_in_a_loop_is_killed() {
    let script = "import os, signal, sys, time\n\
                  print(os.getpid())\n\
                  if os.fork():\n sys.stdin.read(); sys.exit()\n\
                  deadline = time.time() + 20\n\
                  while time.time() < deadline:\n os.setsid() if os.getpgrp() != os.getpid() else None\n\
                  \x20time.sleep(.001)\n if os.fork(): os._exit(0)";
    let (child, them) = start(python(script), 1).await;
    let mark = mark_of(child.control.pid());
    stop(&child.control, &them).await;
    assert_eq!(marked(&mark), [] as [u32; 0], "a process survived");
}

#[tokio::test]
async fn a_child_that_is_suspended_is_stopped_like_any_other() {
    let (child, them) = start(sh("trap 'exit 6' TERM; echo $$; while :; do sleep 0.01; done"), 1).await;
    child.control.signal(Signal::STOP).unwrap();
    let (exit, took) = stop(&child.control, &them).await;
    assert_eq!(exit.code, Some(6));
    assert!(took < GRACE, "{took:?}");
}

#[tokio::test]
async fn concurrent_stops_share_one_escalation() {
    let grace = Duration::from_secs(2);
    let mut child = spawn(&sh("trap '' TERM; echo ready; while :; do sleep 0.01; done").grace(grace)).await;
    one_line(&mut child.stdout).await;
    let control = child.control.clone();
    let first = tokio::time::timeout(grace * 3 / 4, control.stop()).await;
    assert!(first.is_err(), "its grace was cut short");
    // The escalation continues although its first caller is gone; later callers do not restart it.
    let start = Instant::now();
    let (one, two) = tokio::join!(control.stop(), child.control.stop());
    assert!(start.elapsed() < grace, "{:?}", start.elapsed());
    assert_eq!((one.signal, two.signal), (Some(9), Some(9)));
    assert_eq!(within(PATIENCE, control.stop()).await, one);
}

/// acp-21: a caller may shorten the grace period; SIGTERM still comes first.
#[tokio::test]
async fn a_stop_may_shorten_the_grace_period() {
    let dir = tempfile::tempdir().unwrap();
    let script = "trap 'touch terminated' TERM; echo $$; while :; do sleep 0.01; done";
    let mut child = spawn(&sh(script).cwd(dir.path()).grace(PATIENCE)).await;
    let them = [Identity::of(one_line(&mut child.stdout).await.parse().unwrap())];
    let start = Instant::now();
    let exit = within(PATIENCE, child.control.stop_within(GRACE)).await;
    let took = start.elapsed();
    assert!(took >= GRACE && took < GRACE + BEYOND, "stopping took {took:?}");
    assert_eq!(exit.signal, Some(9));
    assert!(dir.path().join("terminated").exists(), "it got no SIGTERM");
    assert!(!them[0].lives());
}

#[tokio::test]
async fn a_stop_cannot_extend_the_grace_period() {
    let (child, _) = start(sh("trap '' TERM; echo $$; while :; do sleep 0.01; done"), 1).await;
    let start = Instant::now();
    within(PATIENCE, child.control.stop_within(PATIENCE)).await;
    assert!(start.elapsed() < GRACE + BEYOND, "stopping took {:?}", start.elapsed());
}

/// Processes that are left when the child has exited may run until it is stopped.
#[tokio::test]
async fn descendants_of_an_exited_child_run_until_stop() {
    let (mut child, them) = start(sh("trap '' TERM; sleep 600 & echo $!; read line"), 1).await;
    child.stdin.close();
    assert_eq!(some_lines(&mut child.stdout).await, None);
    assert!(them[1].lives());
    child.control.signal(Signal::CONT).expect("a process is left to signal");
    stop(&child.control, &them).await;
    assert!(matches!(child.control.signal(Signal::CONT), Err(Error::Exited)));
}

#[tokio::test]
async fn an_exited_child_leaves_no_zombie() {
    let mut child = spawn(&sh("exit 0")).await;
    assert_eq!(some_lines(&mut child.stdout).await, None);
    let path = format!("/proc/{}/stat", child.control.pid());
    let ours = || std::fs::read_to_string(&path).is_ok_and(|stat| stat.contains(" Z "));
    until(PATIENCE, "the child is reaped", || !ours()).await;
    assert!(matches!(child.control.signal(Signal::TERM), Err(Error::Exited)));
    let start = Instant::now();
    assert_eq!(within(PATIENCE, child.control.stop()).await.code, Some(0));
    println!("stopping an exited child took {:?}", start.elapsed());
}

#[tokio::test]
async fn dropping_every_handle_kills_the_group() {
    let script =
        "trap '' TERM; sh -c 'trap \"\" TERM; echo $$; while :; do sleep 0.01; done' & wait; sleep 600";
    let (child, them) = start(sh(script), 1).await;
    let LineProcess { stdin, stdout, control } = child;
    drop(control);
    drop(stdout);
    tokio::time::timeout(Duration::from_millis(100), async {
        while them[0].lives() {
            tokio::task::yield_now().await
        }
    })
    .await
    .expect_err("it is still held by its stdin");
    drop(stdin);
    until(PATIENCE, "the group is killed", || them.iter().all(|it| !it.lives())).await;
}

#[test]
fn shutting_down_the_runtime_kills_its_children() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (child, them) = runtime.block_on(start(sh("trap '' TERM; echo $$; while :; do sleep 0.01; done"), 1));
    drop(runtime);
    let wait = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    wait.block_on(until(PATIENCE, "the child is killed", || !them[0].lives()));
    // A later stop still returns.
    wait.block_on(within(PATIENCE, child.control.stop()));
}
