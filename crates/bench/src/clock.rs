//! One clock for every process on the machine.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The time since the machine started, comparable between processes.
pub(crate) fn now() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Waits: for what has no event to wait for.
#[expect(clippy::disallowed_methods, reason = "a measurement paces itself by time, on a thread of its own")]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}
