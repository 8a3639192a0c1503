//! Metrics of the writer thread.

use std::time::Duration;

use prometheus_client::{
    metrics::{counter::Counter, histogram::Histogram},
    registry::{Registry, Unit},
};

/// Histogram buckets: frames per commit.
const FRAMES_PER_COMMIT: [f64; 7] = [1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0];

/// Histogram buckets: the duration of a commit in seconds.
const COMMIT_SECONDS: [f64; 8] = [0.000_1, 0.000_25, 0.001, 0.004, 0.016, 0.064, 0.256, 1.0];

/// Metrics of the writer thread. Clones share the values.
#[derive(Debug, Clone)]
pub struct JournalMetrics {
    bytes: Counter,
    failures: Counter,
    sizes: Histogram,
    durations: Histogram,
}

impl Default for JournalMetrics {
    fn default() -> Self {
        Self {
            bytes: Counter::default(),
            failures: Counter::default(),
            sizes: Histogram::new(FRAMES_PER_COMMIT),
            durations: Histogram::new(COMMIT_SECONDS),
        }
    }
}

impl JournalMetrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("commit_events", "Events per commit", self.sizes.clone());
        let help = "Duration of commits";
        registry.register_with_unit("commit_duration", help, Unit::Seconds, self.durations.clone());
        let help = "Size of all committed events";
        registry.register_with_unit("written", help, Unit::Bytes, self.bytes.clone());
        registry.register("commit_failures", "Failed commits", self.failures.clone());
    }

    pub(super) fn record_commit(&self, frames: u64, bytes: u64, elapsed: Duration) {
        self.sizes.observe(frames as f64);
        self.durations.observe(elapsed.as_secs_f64());
        self.bytes.inc_by(bytes);
    }

    pub(super) fn record_failure(&self) {
        self.failures.inc();
    }
}
