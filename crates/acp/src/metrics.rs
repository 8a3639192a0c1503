//! Metrics of ACP instances.

use prometheus_client::{
    metrics::{counter::Counter, gauge::ConstGauge},
    registry::Registry,
};

/// Counters of all instances. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct InstanceMetrics {
    pub(crate) starts: Counter,
    pub(crate) crashes: Counter,
}

impl InstanceMetrics {
    pub(crate) fn register(&self, registry: &mut Registry, instances: usize, running: usize) {
        let instances = ConstGauge::new(instances as u64);
        let running = ConstGauge::new(running as u64);
        registry.register("acp_instances", "Current number of ACP instances", instances);
        registry.register("acp_agents_running", "Running agent processes of ACP instances", running);
        registry.register(
            "acp_agent_starts",
            "Agent processes of ACP instances that were started",
            self.starts.clone(),
        );
        let help = "Agent processes of ACP instances that exited unrequested with a status other than 0";
        registry.register("acp_agent_crashes", help, self.crashes.clone());
    }
}
