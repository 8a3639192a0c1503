//! The processes of an agent, as `/proc` knows them.

use std::{fs, process::Command};

/// A variable that the agent is given and that its descendants inherit, wherever they go.
pub(crate) const MARK: &str = "TOMBOLO_TEST_MARK";

/// A process that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    parent: u32,
    group: u32,
    session: u32,
    /// When it started, in ticks: with it, the id is that of no other process.
    started: u64,
    pub(crate) command: String,
}

/// Everyone who belongs to `leader`: descendants, members of its group or session, and whoever carries the mark.
pub(crate) fn family(leader: u32, mark: &str) -> Vec<Process> {
    let all = all();
    let mut family: Vec<Process> = Vec::new();
    loop {
        let belongs = |process: &Process| {
            process.pid == leader
                || process.group == leader
                || process.session == leader
                || family.iter().any(|known| known.pid == process.parent)
                || carries(process.pid, mark)
        };
        let next: Vec<_> =
            all.iter().filter(|process| !family.contains(process) && belongs(process)).cloned().collect();
        if next.is_empty() {
            return family;
        }
        family.extend(next);
    }
}

/// Those of `family` who still run.
pub(crate) fn alive(family: &[Process]) -> Vec<Process> {
    let all = all();
    family
        .iter()
        .filter(|one| all.iter().any(|process| process.pid == one.pid && process.started == one.started))
        .cloned()
        .collect()
}

/// Everyone who carries the mark.
pub(crate) fn marked(mark: &str) -> Vec<Process> {
    all().into_iter().filter(|process| carries(process.pid, mark)).collect()
}

/// Kills those who carry the mark and whose command says `name`.
pub(crate) fn kill_named(mark: &str, name: &str) {
    let named: Vec<_> = marked(mark).into_iter().filter(|process| process.command.contains(name)).collect();
    assert!(!named.is_empty(), "nobody is called {name}: {:?}", marked(mark));
    for process in named {
        let _ = Command::new("kill").arg("-KILL").arg(process.pid.to_string()).status();
    }
}

/// Ends everyone who carries the mark.
pub(crate) fn kill(mark: &str) {
    for process in all().iter().filter(|process| carries(process.pid, mark)) {
        let _ = Command::new("kill").arg("-KILL").arg(process.pid.to_string()).status();
    }
}

/// All processes that run; one that waits to be reaped does not.
fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").expect("/proc is there");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(process).collect()
}

fn process(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything, so what follows is counted from its end.
    let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    if fields.first() == Some(&"Z") {
        return None;
    }
    let number = |at: usize| fields.get(at)?.parse().ok();
    let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    Some(Process {
        pid,
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        started: fields.get(19)?.parse().ok()?,
        command: command.replace('\0', " "),
    })
}

fn carries(pid: u32, mark: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let wanted = format!("{MARK}={mark}");
    environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
}
