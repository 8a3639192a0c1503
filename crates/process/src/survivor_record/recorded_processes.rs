//! Processes by id and start time, as the record stores them.

use std::{
    collections::HashSet,
    fmt::Write,
    fs,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, getpid};

use crate::{
    parent_mark,
    process_group::signal_all,
    process_snapshot::{ProcessSnapshot, StartTimes},
    procfs::{self, ProcessStat},
};

/// How many processes are recorded. A line has at most 32 bytes, so that the record stays below its limit.
const PROCESSES_MAX: usize = 16_384;

/// The time limit for ending the processes of an earlier run.
const KILL_MAX: Duration = Duration::from_secs(1);

/// The last line. What follows is left of an earlier, longer record.
const END: &str = "end";

/// The processes that were below a parent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RecordedProcesses(pub(super) StartTimes);

impl RecordedProcesses {
    /// Parses a record. It is empty if it was written since another boot or in another pid namespace: process ids and start
    /// times mean other processes there.
    pub(super) fn parse(record: &str) -> Self {
        let mut lines = record.lines().skip(1);
        match (lines.next(), PidScope::current()) {
            (Some(line), Some(scope)) if line == scope.line() => {}
            _ => return Self::default(),
        }
        let parse_line = |line: &str| {
            let (pid, start_time) = line.split_once(' ')?;
            Some((Pid::from_raw(pid.parse().ok()?)?, start_time.parse().ok()?))
        };
        Self(lines.take_while(|line| *line != END).take(PROCESSES_MAX).filter_map(parse_line).collect())
    }

    /// The record with these processes; `None` if this system does not say which boot this is.
    pub(super) fn render(&self) -> Option<String> {
        let mut record = format!("{}\n{}\n", parent_mark(), PidScope::current()?.line());
        for (pid, start_time) in self.0.iter().take(PROCESSES_MAX) {
            // Writing to a string cannot fail.
            let _ = writeln!(record, "{} {start_time}", pid.as_raw_pid());
        }
        record.push_str(END);
        record.push('\n');
        Some(record)
    }

    /// Kills the processes and their descendants, and returns whether any was alive.
    pub(super) fn kill(mut self) -> bool {
        // A user may restart the parent from a shell that was below it.
        let spared: HashSet<Pid> = procfs::with_ancestors(getpid(), procfs::parent).collect();
        let deadline = Instant::now() + KILL_MAX;
        let mut any = false;
        while !self.0.is_empty() && Instant::now() < deadline {
            // Descendants first: with their parent they lose the link to it.
            let snapshot = ProcessSnapshot::read();
            let below = snapshot.below(|pid| snapshot.is_in(pid, &self.0));
            self.0.extend(below);
            let is_recorded = |pid: Pid| {
                let start_time = self.0.get(&pid).copied();
                !spared.contains(&pid)
                    && start_time.is_some()
                    && ProcessStat::read(pid).map(|stat| stat.start_time) == start_time
            };
            if signal_all(Signal::KILL, is_recorded) == 0 {
                break;
            }
            any = true;
            // Lets the killed processes exit. A scan takes some milliseconds, so this loop is no busy one.
            std::thread::yield_now();
        }
        any
    }
}

/// The boot and the pid namespace. Within both, a process id with its start time means one process only.
struct PidScope {
    boot_id: String,
    pid_namespace: String,
}

impl PidScope {
    fn current() -> Option<Self> {
        let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned();
        let pid_namespace = fs::read_link("/proc/self/ns/pid").ok()?.to_str()?.to_owned();
        Some(Self { boot_id, pid_namespace })
    }

    fn line(&self) -> String {
        format!("boot {} {}", self.boot_id, self.pid_namespace)
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn sleeper() -> (Child, Pid, u64) {
        let child = Command::new("sleep").arg("600").env_clear().spawn().unwrap();
        let pid = Pid::from_child(&child);
        (child, pid, ProcessStat::read(pid).unwrap().start_time)
    }

    #[test]
    fn a_record_is_read_as_it_was_written_whatever_follows_it() {
        let processes = [(7, 100), (4_194_304, u64::MAX)];
        let processes = processes.map(|(pid, start_time)| (Pid::from_raw(pid).unwrap(), start_time));
        let recorded = RecordedProcesses(processes.into_iter().collect());
        let record = recorded.render().unwrap();
        assert_eq!(RecordedProcesses::parse(&record), recorded);
        assert_eq!(RecordedProcesses::parse(&format!("{record}99 5\n1 2\n")), recorded);
        assert_eq!(RecordedProcesses::parse(&format!("{}\n", parent_mark())), RecordedProcesses::default());
    }

    #[test]
    fn a_process_with_a_reused_id_or_of_another_boot_is_left_alone() {
        let (mut child, pid, start_time) = sleeper();
        let record = |start_time: u64| RecordedProcesses([(pid, start_time)].into_iter().collect());
        assert!(!record(start_time + 1).kill() && !record(start_time - 1).kill());
        let written = record(start_time).render().unwrap();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        for (other, what) in [
            (written.replace(boot.trim(), "00000000-0000-0000-0000-000000000000"), "boot"),
            (written.replace("pid:[", "pid:[1"), "pid namespace"),
        ] {
            assert_ne!(other, written);
            assert!(!RecordedProcesses::parse(&other).kill(), "{what}");
        }
        assert!(child.try_wait().unwrap().is_none(), "the process was killed");
        assert!(RecordedProcesses::parse(&written).kill());
        child.wait().unwrap();
    }
}
