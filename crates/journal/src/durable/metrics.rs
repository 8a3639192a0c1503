//! What is counted of writing.

use std::time::Duration;

use prometheus_client::{
    metrics::{counter::Counter, histogram::Histogram},
    registry::{Registry, Unit},
};

/// How many frames share a commit.
const SIZES: [f64; 7] = [1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0];

/// How long a commit takes, in seconds.
const DURATIONS: [f64; 8] = [0.000_1, 0.000_25, 0.001, 0.004, 0.016, 0.064, 0.256, 1.0];

/// What is counted of writing. Clones count together.
#[derive(Debug, Clone)]
pub struct Metrics {
    bytes: Counter,
    failures: Counter,
    sizes: Histogram,
    durations: Histogram,
}

impl Default for Metrics {
    fn default() -> Self {
        let (sizes, durations) = (Histogram::new(SIZES), Histogram::new(DURATIONS));
        Self { bytes: Counter::default(), failures: Counter::default(), sizes, durations }
    }
}

impl Metrics {
    /// Tells what was counted.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("commit_events", "Events that were written, by commit", self.sizes.clone());
        let help = "How long commits took";
        registry.register_with_unit("commit_duration", help, Unit::Seconds, self.durations.clone());
        let help = "The bytes of all events that were written";
        registry.register_with_unit("written", help, Unit::Bytes, self.bytes.clone());
        registry.register("commit_failures", "Commits that failed", self.failures.clone());
    }

    pub(super) fn committed(&self, frames: u64, bytes: u64, elapsed: Duration) {
        self.sizes.observe(frames as f64);
        self.durations.observe(elapsed.as_secs_f64());
        self.bytes.inc_by(bytes);
    }

    pub(super) fn failed(&self) {
        self.failures.inc();
    }
}
