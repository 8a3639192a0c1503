//! Shared helpers: a process table, programs from one-line scripts, and waits with a time limit.

use std::{path::Path, time::Duration};

use protocol::{
    ProcessId,
    processes::{ProcessState, StartProcessRequest, TerminalSize, UserProcess},
};
pub(crate) use testkit::within;
use user_processes::{Config, LogFollower, LogItem, ProcessEvent, UserProcessLimits, UserProcesses};

/// The time limit of all waits, far more than they take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn config() -> Config {
    Config {
        current_dir: "/".into(),
        env_remove: vec!["HOME".into()],
        grace: Duration::from_secs(1),
        limits: UserProcessLimits::default(),
    }
}

pub(crate) fn processes() -> UserProcesses {
    UserProcesses::new(config())
}

pub(crate) fn command(command: &str, args: &[&str]) -> StartProcessRequest {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    StartProcessRequest { command: command.into(), args, cwd: None, env: Default::default(), terminal: None }
}

pub(crate) fn sh(script: &str) -> StartProcessRequest {
    command("sh", &["-c", script])
}

pub(crate) fn on_terminal(start: StartProcessRequest) -> StartProcessRequest {
    StartProcessRequest { terminal: Some(TerminalSize { columns: 80, rows: 24 }), ..start }
}

pub(crate) async fn start(processes: &UserProcesses, start: StartProcessRequest) -> ProcessId {
    processes.start(start).await.unwrap().id
}

/// Waits for the exit.
pub(crate) async fn ended(processes: &UserProcesses, id: ProcessId) -> UserProcess {
    let process = processes.wait(id, PATIENCE).await.unwrap();
    assert_eq!(process.state, ProcessState::Exited);
    process
}

/// The exact bytes up to and including `end`.
pub(crate) async fn until(follower: &mut LogFollower, end: &[u8]) -> Vec<u8> {
    let mut shown = Vec::new();
    while !shown.windows(end.len()).any(|window| window == end) {
        match within(PATIENCE, follower.next()).await {
            Some(LogItem::Event(_, ProcessEvent::Output(output))) => shown.extend_from_slice(&output.bytes()),
            other => panic!("{other:?} after {:?}", String::from_utf8_lossy(&shown)),
        }
    }
    shown
}

/// All items up to the end.
pub(crate) async fn all(mut follower: LogFollower) -> Vec<LogItem> {
    let mut items = Vec::new();
    while let Some(item) = within(PATIENCE, follower.next()).await {
        items.push(item);
    }
    items
}

/// Whether a process runs. A zombie does not.
pub(crate) fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}
