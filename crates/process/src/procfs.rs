//! What `/proc` says of other processes.

use std::fs;
use std::io::Read;

use memchr::memmem;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// More environment than any process is given by accident: `exec` allows 2 MiB with the arguments.
const ENVIRONMENT_BYTES_MAX: u64 = 4 << 20;

/// One process as `/proc/<pid>/stat` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) pid: Pid,
    pub(crate) group: Pid,
    pub(crate) session: Pid,
    /// In clock ticks since boot: with the pid, this names one process for good.
    pub(crate) started: u64,
    /// A zombie: it only waits to be reaped.
    pub(crate) ended: bool,
}

/// Everyone there is. Who comes or goes meanwhile may or may not be among them.
pub(crate) fn entries() -> impl Iterator<Item = Entry> {
    let listing = fs::read_dir("/proc").into_iter().flatten().flatten();
    listing
        .filter_map(|item| item.file_name().to_str()?.parse().ok().and_then(Pid::from_raw))
        .filter_map(entry)
}

/// One process, unless it is gone.
pub(crate) fn entry(pid: Pid) -> Option<Entry> {
    parse(pid, &fs::read(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?)
}

/// `pid (name) state ppid pgrp session …`, where the name may hold anything, even `) R 1 (`.
fn parse(pid: Pid, stat: &[u8]) -> Option<Entry> {
    let after_name = memchr::memrchr(b')', stat)? + 2;
    let rest = std::str::from_utf8(stat.get(after_name..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let ended = matches!(fields.next()?, "Z" | "X" | "x");
    let mut id = |nth| fields.nth(nth)?.parse().ok();
    let group = Pid::from_raw(id(1)?)?;
    let session = Pid::from_raw(id(0)?)?;
    let started = fields.nth(15)?.parse().ok()?;
    Some(Entry { pid, group, session, started, ended })
}

/// Whether the environment that `pid` was started with holds `needle`. We may read only what we may also kill.
pub(crate) fn environment_has(pid: Pid, needle: &[u8]) -> bool {
    let Ok(file) = fs::File::open(format!("/proc/{}/environ", pid.as_raw_pid())) else { return false };
    let mut environment = Vec::new();
    // What was read before an error counts.
    let _ = file.take(ENVIRONMENT_BYTES_MAX).read_to_end(&mut environment);
    memmem::find(&environment, needle).is_some()
}

/// Signals exactly this process, and not one that has got its id since.
pub(crate) fn signal(process: &Entry, signal: Signal) {
    if let Ok(fd) = pidfd_open(process.pid, PidfdFlags::empty())
        && entry(process.pid).is_some_and(|now| now.started == process.started)
    {
        let _ = pidfd_send_signal(fd, signal);
    }
}
