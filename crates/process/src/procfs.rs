//! What `/proc` says of other processes.

use std::fs;
use std::io::Read;

use memchr::memmem;
use rustix::process::Pid;

/// More environment than any process is given by accident: `exec` allows 2 MiB with the arguments.
const ENVIRONMENT_BYTES_MAX: u64 = 4 << 20;

/// More than are ever above one process.
const GENERATIONS_MAX: usize = 1024;

/// Everyone there is. Who comes or goes meanwhile may or may not be among them.
pub(crate) fn pids() -> impl Iterator<Item = Pid> {
    let listing = fs::read_dir("/proc").into_iter().flatten().flatten();
    listing.filter_map(|item| Pid::from_raw(item.file_name().to_str()?.parse().ok()?))
}

/// Whether `pid` is in the process group or the session of `leader`.
#[expect(
    unsafe_code,
    reason = "rustix takes it for granted that no group is 0, but those of kernel threads are"
)]
pub(crate) fn belongs(pid: Pid, leader: Pid) -> bool {
    let (pid, leader) = (pid.as_raw_pid(), leader.as_raw_pid());
    // SAFETY: both take a number and return a number.
    unsafe { libc::getpgid(pid) == leader || libc::getsid(pid) == leader }
}

/// Whether `pid` runs: a zombie only waits to be reaped.
pub(crate) fn lives(pid: Pid) -> bool {
    Stat::of(pid).is_some_and(|stat| stat.lives())
}

/// Who started `pid`, or has taken it in since; nobody if that is outside of what can be seen here.
pub(crate) fn parent(pid: Pid) -> Option<Pid> {
    Stat::of(pid)?.parent
}

/// A process, its parent, the parent of that, and so on.
pub(crate) fn upwards(pid: Pid, parent: impl Fn(Pid) -> Option<Pid>) -> impl Iterator<Item = Pid> {
    // An id that was given anew meanwhile could lead back.
    std::iter::successors(Some(pid), move |pid| parent(*pid)).take(GENERATIONS_MAX)
}

/// What `/proc` says of one process at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    state: u8,
    pub(crate) parent: Option<Pid>,
    /// When it was started, which tells it from others that had or will have its id.
    pub(crate) birth: u64,
}

impl Stat {
    /// Between the state with the parent, and the birth.
    const BEFORE_BIRTH: usize = 17;

    pub(crate) fn of(pid: Pid) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?)
    }

    /// `pid (name) state parent …`, where the name may hold anything, even `) Z (`.
    fn parse(stat: &[u8]) -> Option<Self> {
        let after_name = memchr::memrchr(b')', stat)? + 2;
        let mut fields = std::str::from_utf8(stat.get(after_name..)?).ok()?.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        let parent = Pid::from_raw(fields.next()?.parse().ok()?);
        let birth = fields.nth(Self::BEFORE_BIRTH)?.parse().ok()?;
        Some(Self { state, parent, birth })
    }

    /// A zombie does not.
    pub(crate) fn lives(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// Whether the environment that `pid` was started with holds `needle`. We may read only whom we may also kill.
pub(crate) fn environment_has(pid: Pid, needle: &[u8]) -> bool {
    let Ok(file) = fs::File::open(format!("/proc/{}/environ", pid.as_raw_pid())) else { return false };
    let mut environment = Vec::new();
    let _ = file.take(ENVIRONMENT_BYTES_MAX).read_to_end(&mut environment); // What came before an error counts.
    memmem::find(&environment, needle).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zombie_is_known_whatever_its_name() {
        let numbers = "7 0 0 0 -1 0 0 0 0 0 0 0 0 0 0 20 0 1 4711 0 0";
        let check = |name: &str, expected: Option<bool>| {
            let stat = Stat::parse(format!("12 ({name} {numbers}").as_bytes());
            assert_eq!(stat.map(|stat| stat.lives()), expected, "{name}");
            assert!(stat.is_none_or(|stat| (stat.parent, stat.birth) == (Pid::from_raw(7), 4711)), "{name}");
        };
        check("sh) S", Some(true));
        check("sh) Z", Some(false));
        check("a) Z (b) R", Some(true));
        check("a) R 1) Z", Some(false));
        check("sh", None);
    }

    #[test]
    fn a_parent_and_a_birth_are_known() {
        let us = rustix::process::getpid();
        assert_eq!(parent(us), rustix::process::getppid());
        assert!(Stat::of(us).is_some_and(|stat| stat.lives() && stat.birth > 0));
        assert_eq!(parent(Pid::INIT), None);
    }

    #[test]
    fn kernel_threads_belong_to_nobody() {
        assert!(belongs(rustix::process::getpid(), rustix::process::getpgrp()));
        let leader = rustix::process::getpgrp();
        assert!(pids().filter(|pid| belongs(*pid, leader)).all(lives));
    }
}
