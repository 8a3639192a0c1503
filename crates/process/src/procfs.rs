//! What `/proc` says of other processes.

use std::fs;
use std::io::Read;

use memchr::memmem;
use rustix::process::Pid;

/// More environment than any process is given by accident: `exec` allows 2 MiB with the arguments.
const ENVIRONMENT_BYTES_MAX: u64 = 4 << 20;

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
    fs::read(format!("/proc/{}/stat", pid.as_raw_pid())).is_ok_and(|stat| runs(&stat))
}

/// `pid (name) state …`, where the name may hold anything, even `) Z (`.
fn runs(stat: &[u8]) -> bool {
    let state = memchr::memrchr(b')', stat).and_then(|end| stat.get(end + 2));
    !matches!(state, None | Some(b'Z' | b'X' | b'x'))
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
        let check = |stat: &str, expected| assert_eq!(runs(stat.as_bytes()), expected, "{stat}");
        check("12 (sh) S 1 12 12 0", true);
        check("12 (sh) Z 1 12 12 0", false);
        check("12 (a) Z (b) R 1 12 12 0", true);
        check("12 (a) R 1) Z 1 12 12 0", false);
        check("", false);
    }

    #[test]
    fn kernel_threads_belong_to_nobody() {
        assert!(belongs(rustix::process::getpid(), rustix::process::getpgrp()));
        let leader = rustix::process::getpgrp();
        assert!(pids().filter(|pid| belongs(*pid, leader)).all(lives));
    }
}
