//! What all tests need: a registry, programs from one-liners, and bounded waits.

use std::{path::Path, time::Duration};

use protocol::{
    ProcessId,
    processes::{ProcessState, StartProcessRequest, TerminalSize, UserProcess},
};
pub(crate) use testkit::within;
use user_processes::{Config, Event, Follower, Item, Limits, Processes};

/// More than any of this takes on a busy machine; reaching it is a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn config() -> Config {
    Config {
        current_dir: "/".into(),
        env_remove: vec!["HOME".into()],
        grace: Duration::from_secs(1),
        limits: Limits::default(),
    }
}

pub(crate) fn processes() -> Processes {
    Processes::new(config())
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

pub(crate) async fn start(processes: &Processes, start: StartProcessRequest) -> ProcessId {
    processes.start(start).await.unwrap().id
}

/// Waits for the end.
pub(crate) async fn ended(processes: &Processes, id: ProcessId) -> UserProcess {
    let process = processes.wait(id, PATIENCE).await.unwrap();
    assert_eq!(process.state, ProcessState::Exited);
    process
}

/// The exact bytes up to and including `end`.
pub(crate) async fn until(follower: &mut Follower, end: &[u8]) -> Vec<u8> {
    let mut shown = Vec::new();
    while !shown.windows(end.len()).any(|window| window == end) {
        match within(PATIENCE, follower.next()).await {
            Some(Item::Event(_, Event::Output(output))) => shown.extend_from_slice(&output.bytes()),
            other => panic!("{other:?} after {:?}", String::from_utf8_lossy(&shown)),
        }
    }
    shown
}

/// All items up to the end.
pub(crate) async fn all(mut follower: Follower) -> Vec<Item> {
    let mut items = Vec::new();
    while let Some(item) = within(PATIENCE, follower.next()).await {
        items.push(item);
    }
    items
}

/// Whether a process runs; one that waits to be reaped does not.
pub(crate) fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}
