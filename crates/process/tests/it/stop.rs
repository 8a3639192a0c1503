//! The ladder: nobody survives, and nobody waits longer than promised.

use std::time::Duration;

use process::{Control, Error, Exit, Process, Signal, Spec};
use tokio::time::Instant;

use crate::support::*;

const GRACE: Duration = Duration::from_millis(600);
/// What `stop` may take beyond the grace.
const BEYOND: Duration = Duration::from_millis(500);

/// Starts `spec` and waits for the lines in which it tells the pids of those that must not survive.
async fn start(spec: Spec, pids: usize) -> (Process, Vec<Identity>) {
    let mut child = spawn(&spec.grace(GRACE)).await;
    let mut told = vec![Identity::of(child.control.pid())];
    while told.len() <= pids {
        let lines = some_lines(&mut child.stdout).await.expect("pids");
        told.extend(lines.iter().map(|pid| Identity::of(pid.parse().unwrap())));
    }
    (child, told)
}

/// Stops it, within the promised time, after which nobody is left.
async fn stop(control: &Control, them: &[Identity]) -> (Exit, Duration) {
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
async fn a_child_that_heeds_the_end_of_its_input_is_gone_at_once() {
    let (child, them) = start(sh("trap '' TERM; echo $$; read line; exit 4"), 1).await;
    let (exit, took) = stop(&child.control, &them).await;
    println!("stopped by end of input in {took:?}");
    assert_eq!(exit.code, Some(4));
    assert!(took < GRACE / 4, "{took:?}");
}

/// acp-21
#[tokio::test]
async fn a_child_that_heeds_term_is_gone_before_its_grace_has_passed() {
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
    assert_eq!(exit, Exit { code: None, signal: Some(9) });
    assert!(took >= GRACE, "its grace was cut short: {took:?}");
}

/// acp-21: "a grandchild that ignores TERM too", after its parent has gone, with the pipes in its hands.
#[tokio::test]
async fn a_grandchild_that_ignores_term_is_killed_after_the_leader_has_gone() {
    let script = "(trap '' TERM; sh -c 'echo $PPID; while :; do sleep 0.01; done') & read line";
    let (child, them) = start(sh(script), 1).await;
    let (exit, took) = stop(&child.control, &them).await;
    assert_eq!(exit.signal, None);
    assert!(took >= GRACE, "the group's grace was cut short: {took:?}");
}

/// acp-21: who heeds TERM is waited for even when the leader has gone.
#[tokio::test]
async fn a_grandchild_that_heeds_term_has_time_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let script = "import os, signal, sys, time\nif os.fork(): sys.stdin.read(); sys.exit()\n\
                  def bye(*_): time.sleep(.1); open('bye', 'w'); sys.exit()\n\
                  signal.signal(15, bye); print(os.getpid())\nwhile True: time.sleep(60)";
    let (child, them) = start(python(script).cwd(dir.path()), 1).await;
    let (_, took) = stop(&child.control, &them).await;
    assert!(dir.path().join("bye").exists(), "it was killed after {took:?}");
    assert!(took < GRACE, "{took:?}");
}

/// acp-21: who has left the group for a session of its own is found by its mark.
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

/// acp-21: one that escapes again and again is caught.
#[tokio::test]
async fn a_chain_of_escapes_ends() {
    let script = "import os, signal, sys, time\n\
                  print(os.getpid())\n\
                  if os.fork():\n sys.stdin.read(); sys.exit()\n\
                  deadline = time.time() + 20\n\
                  while time.time() < deadline:\n os.setsid() if os.getpgrp() != os.getpid() else None\n\
                  \x20time.sleep(.001)\n if os.fork(): os._exit(0)";
    let (child, them) = start(python(script), 1).await;
    let mark = mark_of(child.control.pid());
    stop(&child.control, &them).await;
    assert_eq!(marked(&mark), [] as [u32; 0], "someone survived");
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
async fn all_who_stop_a_child_share_one_ladder() {
    let grace = Duration::from_secs(2);
    let mut child = spawn(&sh("trap '' TERM; echo ready; while :; do sleep 0.01; done").grace(grace)).await;
    one_line(&mut child.stdout).await;
    let control = child.control.clone();
    let first = tokio::time::timeout(grace * 3 / 4, control.stop()).await;
    assert!(first.is_err(), "its grace was cut short");
    // The ladder goes on although its first caller has gone; the next ones do not begin it anew.
    let start = Instant::now();
    let (one, two) = tokio::join!(control.stop(), child.control.stop());
    assert!(start.elapsed() < grace, "{:?}", start.elapsed());
    assert_eq!((one.signal, two.signal), (Some(9), Some(9)));
    assert_eq!(within(PATIENCE, control.stop()).await, one);
}

/// acp-21: who is in a hurry gives less time, and TERM comes first all the same.
#[tokio::test]
async fn who_stops_a_child_may_give_it_less_time_than_it_has() {
    let dir = tempfile::tempdir().unwrap();
    let script = "trap 'touch asked' TERM; echo $$; while :; do sleep 0.01; done";
    let mut child = spawn(&sh(script).cwd(dir.path()).grace(PATIENCE)).await;
    let them = [Identity::of(one_line(&mut child.stdout).await.parse().unwrap())];
    let start = Instant::now();
    let exit = within(PATIENCE, child.control.stop_within(GRACE)).await;
    let took = start.elapsed();
    assert!(took >= GRACE && took < GRACE + BEYOND, "stopping took {took:?}");
    assert_eq!(exit.signal, Some(9));
    assert!(dir.path().join("asked").exists(), "it was not asked");
    assert!(!them[0].lives());
}

#[tokio::test]
async fn nobody_gives_a_child_more_time_than_it_has() {
    let (child, _) = start(sh("trap '' TERM; echo $$; while :; do sleep 0.01; done"), 1).await;
    let start = Instant::now();
    within(PATIENCE, child.control.stop_within(PATIENCE)).await;
    assert!(start.elapsed() < GRACE + BEYOND, "stopping took {:?}", start.elapsed());
}

/// Whoever is left when the child has exited may stay until it is stopped.
#[tokio::test]
async fn what_an_exited_child_leaves_behind_ends_with_stop() {
    let (mut child, them) = start(sh("trap '' TERM; sleep 600 & echo $!; read line"), 1).await;
    child.stdin.close();
    assert_eq!(some_lines(&mut child.stdout).await, None);
    assert!(them[1].lives());
    child.control.signal(Signal::CONT).expect("there is someone left to signal");
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
    println!("stopping what has exited took {:?}", start.elapsed());
}

#[tokio::test]
async fn dropping_every_handle_kills_the_group() {
    let script =
        "trap '' TERM; sh -c 'trap \"\" TERM; echo $$; while :; do sleep 0.01; done' & wait; sleep 600";
    let (child, them) = start(sh(script), 1).await;
    let Process { stdin, stdout, control } = child;
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
fn a_runtime_that_goes_down_takes_its_children_along() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (child, them) = runtime.block_on(start(sh("trap '' TERM; echo $$; while :; do sleep 0.01; done"), 1));
    drop(runtime);
    let wait = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    wait.block_on(until(PATIENCE, "the child is killed", || !them[0].lives()));
    // Whoever still asks is answered.
    wait.block_on(within(PATIENCE, child.control.stop()));
}
