//! What is counted of installations.

use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::ConstGauge},
    registry::Registry,
};

/// What is counted of installations. Clones count together.
#[derive(Debug, Clone)]
pub(super) struct Metrics {
    ended: Family<[(&'static str, &'static str); 1], Counter>,
}

/// How an installation ends.
const DONE: [(&str, &str); 1] = [("outcome", "done")];
const FAILED: [(&str, &str); 1] = [("outcome", "failed")];

impl Default for Metrics {
    fn default() -> Self {
        let ended = Family::default();
        for outcome in [DONE, FAILED] {
            ended.get_or_create_owned(&outcome);
        }
        Self { ended }
    }
}

impl Metrics {
    pub(super) fn register(&self, registry: &mut Registry, running: usize) {
        registry.register("installs", "Finished component installations", self.ended.clone());
        let running = ConstGauge::new(running as u64);
        registry.register("installs_running", "Component installations in progress", running);
    }

    pub(super) fn ended(&self, well: bool) {
        self.ended.get_or_create(if well { &DONE } else { &FAILED }).inc();
    }
}
