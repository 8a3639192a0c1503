//! Information about other processes from `/proc`.

use std::fs;
use std::io::Read;

use memchr::memmem;
use rustix::process::Pid;

/// More than an environment can have: `exec` allows 2 MiB together with the arguments.
const ENVIRONMENT_BYTES_MAX: u64 = 4 << 20;

/// A limit on the number of ancestors.
const ANCESTORS_MAX: usize = 1024;

/// All processes. Processes that start or end during the listing may or may not be included.
pub(crate) fn pids() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// Whether `pid` is in the process group or the session of `leader`.
#[expect(unsafe_code, reason = "rustix requires group ids other than 0, but kernel threads have group 0")]
pub(crate) fn is_in_group_or_session(pid: Pid, leader: Pid) -> bool {
    let (pid, leader) = (pid.as_raw_pid(), leader.as_raw_pid());
    // SAFETY: both take a number and return a number.
    unsafe { libc::getpgid(pid) == leader || libc::getsid(pid) == leader }
}

/// Whether `pid` runs. A zombie does not.
pub(crate) fn is_alive(pid: Pid) -> bool {
    ProcessStat::read(pid).is_some_and(|stat| stat.is_alive())
}

/// The process that started or adopted `pid`; `None` if that is outside of the pid namespace.
pub(crate) fn parent(pid: Pid) -> Option<Pid> {
    ProcessStat::read(pid)?.parent
}

/// A process, its parent, its grandparent, and so on.
pub(crate) fn with_ancestors(pid: Pid, parent: impl Fn(Pid) -> Option<Pid>) -> impl Iterator<Item = Pid> {
    // The links are read one after the other. An id that is reused meanwhile could form a cycle: hence the limit.
    std::iter::successors(Some(pid), move |pid| parent(*pid)).take(ANCESTORS_MAX)
}

/// The relevant fields of `/proc/<pid>/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    state: u8,
    pub(crate) parent: Option<Pid>,
    /// The start time in clock ticks since boot, which tells the process from others with the same id.
    pub(crate) start_time: u64,
}

impl ProcessStat {
    /// The number of fields between `parent` and `start_time`.
    const FIELDS_BEFORE_START_TIME: usize = 17;

    pub(crate) fn read(pid: Pid) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?)
    }

    /// Parses `pid (name) state parent …`. The name may contain any characters, even `) Z (`, so the last `)` counts.
    fn parse(stat: &[u8]) -> Option<Self> {
        let after_name = memchr::memrchr(b')', stat)? + 2;
        let mut fields = std::str::from_utf8(stat.get(after_name..)?).ok()?.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        let parent = Pid::from_raw(fields.next()?.parse().ok()?);
        let start_time = fields.nth(Self::FIELDS_BEFORE_START_TIME)?.parse().ok()?;
        Some(Self { state, parent, start_time })
    }

    pub(crate) fn is_alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// Whether the initial environment of `pid` contains `entry`. It is readable only for processes that we may also kill.
pub(crate) fn environment_contains(pid: Pid, entry: &[u8]) -> bool {
    let Ok(file) = fs::File::open(format!("/proc/{}/environ", pid.as_raw_pid())) else { return false };
    let mut environment = Vec::new();
    // Use what was read before an error: the process may exit meanwhile.
    let _ = file.take(ENVIRONMENT_BYTES_MAX).read_to_end(&mut environment);
    memmem::find(&environment, entry).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zombie_is_recognised_whatever_its_name() {
        let numbers = "7 0 0 0 -1 0 0 0 0 0 0 0 0 0 0 20 0 1 4711 0 0";
        let check = |name: &str, expected: Option<bool>| {
            let stat = ProcessStat::parse(format!("12 ({name} {numbers}").as_bytes());
            assert_eq!(stat.map(|stat| stat.is_alive()), expected, "{name}");
            assert!(
                stat.is_none_or(|stat| (stat.parent, stat.start_time) == (Pid::from_raw(7), 4711)),
                "{name}"
            );
        };
        check("sh) S", Some(true));
        check("sh) Z", Some(false));
        check("a) Z (b) R", Some(true));
        check("a) R 1) Z", Some(false));
        check("sh", None);
    }

    #[test]
    fn parent_and_start_time_are_read() {
        let us = rustix::process::getpid();
        assert_eq!(parent(us), rustix::process::getppid());
        assert!(ProcessStat::read(us).is_some_and(|stat| stat.is_alive() && stat.start_time > 0));
        assert_eq!(parent(Pid::INIT), None);
    }

    #[test]
    fn kernel_threads_are_in_no_group() {
        assert!(is_in_group_or_session(rustix::process::getpid(), rustix::process::getpgrp()));
        let leader = rustix::process::getpgrp();
        assert!(pids().filter(|pid| is_in_group_or_session(*pid, leader)).all(is_alive));
    }
}
