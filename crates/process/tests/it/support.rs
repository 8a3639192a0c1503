//! Shared helpers: children from one-line scripts, waits with a time limit, and information about processes.

use std::future::Future;
use std::time::Duration;

use process::{FramedLine, LineProcess, ProcessSpec, StdoutLines};

/// The time limit of all waits, far more than they take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn sh(script: &str) -> ProcessSpec {
    ProcessSpec::new("sh").args(["-c", script])
}

pub(crate) fn python(script: &str) -> ProcessSpec {
    ProcessSpec::new("python3").args(["-u", "-c", script])
}

pub(crate) async fn spawn(spec: &ProcessSpec) -> LineProcess {
    process::spawn(spec).await.unwrap()
}

/// Waits for a future, with a time limit.
pub(crate) async fn within<T>(limit: Duration, fact: impl Future<Output = T>) -> T {
    tokio::time::timeout(limit, fact).await.expect("it did not happen in time")
}

/// Polls a condition, with a time limit.
pub(crate) async fn until(limit: Duration, what: &str, mut fact: impl FnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + limit;
    while !fact() {
        assert!(tokio::time::Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The next chunk's lines as text.
pub(crate) async fn some_lines(lines: &mut StdoutLines) -> Option<Vec<String>> {
    let chunk = within(PATIENCE, lines.next()).await?;
    Some(chunk.map(text).collect())
}

/// All lines to the end.
pub(crate) async fn all_lines(lines: &mut StdoutLines) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(some) = some_lines(lines).await {
        all.extend(some);
    }
    all
}

/// Exactly one line, which a child prints when it is ready.
pub(crate) async fn one_line(lines: &mut StdoutLines) -> String {
    let mut some = some_lines(lines).await.expect("a line");
    assert_eq!(some.len(), 1, "{some:?}");
    some.remove(0)
}

fn text(piece: FramedLine<'_>) -> String {
    match piece {
        FramedLine::Line(line) => String::from_utf8_lossy(line).into_owned(),
        FramedLine::TooLong { bytes } => format!("<too long: {bytes}>"),
    }
}

/// A process id with its start time, so that a reused id is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) pid: u32,
    started: u64,
}

impl Identity {
    pub(crate) fn of(pid: u32) -> Self {
        Self::find(pid).expect("a live process")
    }

    /// Whether it lives: a zombie does not.
    pub(crate) fn lives(self) -> bool {
        Self::find(self.pid) == Some(self)
    }

    fn find(pid: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields: Vec<&str> = stat[stat.rfind(')')? + 2..].split_whitespace().collect();
        (fields[0] != "Z").then(|| Self { pid, started: fields[19].parse().unwrap() })
    }
}

/// How much memory this process holds, in KiB.
pub(crate) fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The mark that a child was given.
pub(crate) fn mark_of(pid: u32) -> String {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let mut marks = environment.split(|byte| *byte == 0).filter(|entry| entry.starts_with(b"TOMBOLO_CHILD="));
    String::from_utf8(marks.next_back().unwrap().to_vec()).unwrap()
}

/// All processes that carry a mark.
pub(crate) fn marked(mark: &str) -> Vec<u32> {
    let pids = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let carries = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
    };
    pids.filter(carries).collect()
}
