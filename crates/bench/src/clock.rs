//! A clock that all processes on the machine share.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Returns the time of `CLOCK_MONOTONIC`, which counts from the start of the machine.
///
/// The stub writes this time into its output and the load generator subtracts it from its own reading. `Instant`
/// cannot be passed between processes, and the wall clock may be adjusted during a run.
pub(crate) fn now() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Sleeps. For pacing, and for polling states that give no notification (such as the memory use of a process).
#[expect(clippy::disallowed_methods, reason = "a measurement paces itself by time, on a thread of its own")]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}
