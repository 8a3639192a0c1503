//! What is counted of instances.

use prometheus_client::{
    metrics::{counter::Counter, gauge::ConstGauge},
    registry::Registry,
};

/// What is counted of instances. Clones count together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Metrics {
    pub(crate) starts: Counter,
    pub(crate) crashes: Counter,
}

impl Metrics {
    pub(crate) fn register(&self, registry: &mut Registry, instances: usize, running: usize) {
        let (instances, running) = (ConstGauge::new(instances as u64), ConstGauge::new(running as u64));
        registry.register("acp_instances", "ACP instances that there are", instances);
        registry.register("acp_agents_running", "Agents of ACP instances that run", running);
        registry.register(
            "acp_agent_starts",
            "Agents of ACP instances that were started",
            self.starts.clone(),
        );
        let help = "Agents of ACP instances that ended by themselves, and not with 0";
        registry.register("acp_agent_crashes", help, self.crashes.clone());
    }
}
