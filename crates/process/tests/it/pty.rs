//! daemon-13: "PTY": a child on a terminal.

use std::time::Duration;

use process::{ChildExit, OutputReader, ProcessSpec, PtyProcess, PtySize, spawn_pty};
use tokio::time::Instant;

use crate::support::*;

const SIZE: PtySize = PtySize { cols: 80, rows: 24 };

async fn start(spec: ProcessSpec) -> PtyProcess {
    spawn_pty(&spec.grace(Duration::from_secs(1)), SIZE).await.unwrap()
}

/// Reads until `text` was shown.
async fn shows(outputs: &mut OutputReader, text: &str) -> String {
    let mut shown = String::new();
    while !shown.contains(text) {
        let Some(output) = within(PATIENCE, outputs.next()).await else { panic!("only {shown:?} was shown") };
        shown.push_str(&String::from_utf8_lossy(&output.bytes));
    }
    shown
}

#[tokio::test]
async fn input_is_echoed_and_answered() {
    let mut cat = start(ProcessSpec::new("cat")).await;
    cat.stdin.try_send("hello\n".into()).unwrap();
    assert_eq!(shows(&mut cat.outputs, "hello\r\nhello\r\n").await, "hello\r\nhello\r\n");
    cat.stdin.try_send("\x04".into()).unwrap();
    assert_eq!(within(PATIENCE, cat.outputs.next()).await, None);
    assert_eq!(cat.control.exit(), Some(ChildExit { code: Some(0), signal: None }));
}

#[tokio::test]
async fn the_child_sees_a_new_size() {
    let mut shell = start(sh("trap 'stty size' WINCH; stty size; tty; while :; do sleep 0.01; done")).await;
    let shown = shows(&mut shell.outputs, "/dev/pts/").await;
    assert!(shown.starts_with("24 80\r\n"), "{shown:?}");
    shell.resizer.resize(PtySize { cols: 132, rows: 50 }).unwrap();
    shows(&mut shell.outputs, "50 132\r\n").await;
}

#[tokio::test]
async fn control_c_interrupts() {
    let mut cat = start(ProcessSpec::new("cat")).await;
    cat.stdin.try_send("ready\n".into()).unwrap();
    shows(&mut cat.outputs, "ready\r\nready\r\n").await;
    cat.stdin.try_send("\x03".into()).unwrap();
    assert_eq!(within(PATIENCE, cat.control.wait()).await, ChildExit { code: None, signal: Some(2) });
}

#[tokio::test]
async fn all_output_comes_before_the_end() {
    let mut child = start(python("print('\\n'.join(map(str, range(5000))))")).await;
    let mut shown = Vec::new();
    while let Some(output) = within(PATIENCE, child.outputs.next()).await {
        shown.extend_from_slice(&output.bytes);
    }
    let shown = String::from_utf8(shown).unwrap();
    assert_eq!(shown.lines().count(), 5000);
    assert!(shown.ends_with("4999\r\n"));
}

/// A read from a terminal may return less than requested although there is more.
#[tokio::test]
async fn output_is_read_completely_after_a_pause() {
    let dir = tempfile::tempdir().unwrap();
    let script = "import os; os.write(1, b'x' * 7000 + b'end'); open('done', 'w'); input()";
    let mut child = start(python(script).cwd(dir.path())).await;
    until(PATIENCE, "all is shown", || dir.path().join("done").exists()).await;
    assert_eq!(shows(&mut child.outputs, "end").await.len(), 7003);
}

/// An interactive shell ignores SIGTERM, but not SIGHUP.
#[tokio::test]
async fn an_idle_shell_stops_at_once() {
    let mut shell = start(ProcessSpec::new("bash").args(["--norc", "-i"]).env("PS1", "$ ")).await;
    shows(&mut shell.outputs, "$ ").await;
    let start = Instant::now();
    within(PATIENCE, shell.control.stop()).await;
    println!("stopping an idle shell took {:?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
}

/// Bash misses a SIGHUP that arrives between its prompt and its wait for a line.
#[tokio::test]
async fn a_second_hang_up_follows_a_missed_one() {
    let dir = tempfile::tempdir().unwrap();
    let script = r"
import signal, sys, time
first = None
def hung_up(*_):
    global first
    first = first or time.monotonic()
    if time.monotonic() - first > 0.05:
        open('bye', 'w')
        sys.exit()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, hung_up)
print('ready', flush=True)
while True:
    signal.pause()
";
    let mut shell = start(python(script).cwd(dir.path())).await;
    shows(&mut shell.outputs, "ready\r\n").await;
    within(PATIENCE, shell.control.stop()).await;
    assert!(dir.path().join("bye").exists());
}

/// SIGTERM reaches the groups that a shell has created.
#[tokio::test]
async fn a_job_has_time_to_handle_term() {
    let dir = tempfile::tempdir().unwrap();
    let mut shell =
        start(ProcessSpec::new("bash").args(["--norc", "-i"]).env("PS1", "$ ").cwd(dir.path())).await;
    shows(&mut shell.outputs, "$ ").await;
    let job =
        "sh -c 'trap \"\" HUP; trap \">bye; exit\" TERM; echo re\"\"ady; while :; do sleep 0.01; done' &\n";
    shell.stdin.try_send(job.into()).unwrap();
    shows(&mut shell.outputs, "ready\r\n").await;
    within(PATIENCE, shell.control.stop()).await;
    assert!(dir.path().join("bye").exists());
}

/// An interactive shell ignores SIGTERM and puts each job into a group of its own.
#[tokio::test]
async fn stopping_a_shell_stops_its_jobs() {
    let mut shell = start(ProcessSpec::new("bash").args(["--norc", "-i"]).env("PS1", "$ ")).await;
    shows(&mut shell.outputs, "$ ").await;
    shell
        .stdin
        .try_send("sh -c 'trap \"\" HUP TERM; echo job=$$.; while :; do sleep 0.01; done' &\n".into())
        .unwrap();
    let shown = shows(&mut shell.outputs, ".\r\n").await;
    let job = shown.split("job=").find_map(|rest| rest.split_once(".\r\n")?.0.parse().ok()).unwrap();
    let them = [Identity::of(shell.control.pid()), Identity::of(job)];
    let start = Instant::now();
    within(PATIENCE, shell.control.stop()).await;
    println!("stopping an interactive shell took {:?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_millis(1500), "{:?}", start.elapsed());
    assert!(them.iter().all(|it| !it.lives()));
}
