//! Decides after each scan that kills whether killing is over.

use std::time::Duration;

use tokio::time::Instant;

use crate::process_group::SweepResult;

/// The time limit for killing.
// `stop` promises grace + 500 ms. SIGKILL takes effect in a few milliseconds unless the machine is overloaded.
const KILL_WAIT_MAX: Duration = Duration::from_millis(400);

/// The minimum number of scans before processes count as survivors.
// A scan reads all of `/proc`. On a machine with thousands of processes, or with busy cores, two scans can take longer than
// KILL_WAIT_MAX. Without this minimum a stop would report survivors there although every process had ended.
const SCANS_MIN: u32 = 6;

/// How far killing all processes of a child has got.
#[derive(Debug)]
pub(crate) struct KillProgress {
    deadline: Instant,
    scans: u32,
    previous: Option<SweepResult>,
}

/// The next step after a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KillStep {
    ScanAgain,
    /// No process is left.
    AllGone,
    /// Processes may be left, and killing them again is not expected to help.
    Survivors,
}

impl KillProgress {
    pub(crate) fn start(now: Instant) -> Self {
        Self { deadline: now + KILL_WAIT_MAX, scans: 0, previous: None }
    }

    /// The time until which the leader's exit is awaited once killing is over.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Takes the result of the next scan, which ended at `now`.
    pub(crate) fn after_scan(&mut self, found: SweepResult, now: Instant) -> KillStep {
        self.scans += 1;
        // A process in the middle of `exec` has an empty environment and so no mark: only two scans in a row prove that none is
        // left. A first scan without a find is enough of a reason to scan once more, also after the deadline.
        let same_as_before = self.previous.replace(found) == Some(found);
        match found {
            SweepResult::Empty if same_as_before => KillStep::AllGone,
            SweepResult::Ambiguous if same_as_before => KillStep::Survivors,
            SweepResult::Killed(_) | SweepResult::Ambiguous
                if now >= self.deadline && self.scans >= SCANS_MIN =>
            {
                KillStep::Survivors
            }
            SweepResult::Empty | SweepResult::Killed(_) | SweepResult::Ambiguous => KillStep::ScanAgain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The step after the last of these scans, each of which takes `pace`; every earlier one must ask for another scan.
    fn check(pace: Duration, scans: &[SweepResult], expected: KillStep) {
        let start = Instant::now();
        let mut progress = KillProgress::start(start);
        let steps = (1..).zip(scans).map(|(nth, found)| progress.after_scan(*found, start + pace * nth));
        let steps: Vec<_> = steps.collect();
        let (last, earlier) = steps.split_last().unwrap();
        assert!(earlier.iter().all(|step| *step == KillStep::ScanAgain), "{steps:?} for {scans:?}");
        assert_eq!(*last, expected, "{scans:?} at a pace of {pace:?}");
    }

    #[test]
    fn two_scans_without_a_process_end_the_killing() {
        use SweepResult::{Ambiguous, Empty, Killed};
        let fast = Duration::from_millis(5);
        check(fast, &[Empty], KillStep::ScanAgain);
        check(fast, &[Empty, Empty], KillStep::AllGone);
        check(fast, &[Killed(2), Empty, Killed(1), Empty, Empty], KillStep::AllGone);
        check(fast, &[Ambiguous, Empty, Empty], KillStep::AllGone);
        check(fast, &[Killed(1), Ambiguous, Ambiguous], KillStep::Survivors);
    }

    #[test]
    fn slow_scans_are_no_survivors() {
        use SweepResult::{Empty, Killed};
        let slow = Duration::from_millis(350);
        check(slow, &[Killed(1), Empty, Empty], KillStep::AllGone);
        check(slow, &[Killed(1), Killed(1), Killed(1), Empty, Empty], KillStep::AllGone);
    }

    #[test]
    fn a_process_that_no_kill_ends_is_a_survivor() {
        check(Duration::from_millis(350), &[SweepResult::Killed(1); 6], KillStep::Survivors);
        check(Duration::from_millis(50), &[SweepResult::Killed(1); 8], KillStep::Survivors);
    }
}
