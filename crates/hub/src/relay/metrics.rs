//! What is counted of devices and of what is asked of them.

use std::time::Duration;

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::ConstGauge, histogram::Histogram},
    registry::Registry,
};
use protocol::relay;

/// How long requests take, in seconds.
const DURATIONS: [f64; 8] = [0.000_5, 0.002, 0.01, 0.05, 0.25, 1.0, 10.0, 60.0];

/// The outcome of what went well.
const OK: &str = "ok";

/// What is counted. Clones count together.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    connects: Counter,
    disconnects: Counter,
    requests: Family<Asked, Counter>,
    refused: Family<[(&'static str, &'static str); 1], Counter>,
    durations: Family<[(&'static str, &'static str); 1], Histogram>,
}

/// What was asked and what came of it: a family and one of twelve codes, or `ok`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asked {
    family: &'static str,
    outcome: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        let histogram: fn() -> Histogram = || Histogram::new(DURATIONS);
        let metrics = Self {
            connects: Counter::default(),
            disconnects: Counter::default(),
            requests: Family::default(),
            refused: Family::default(),
            durations: Family::new_with_constructor(histogram),
        };
        // What was not asked yet is zero, not unknown.
        for family in relay::Family::ALL.map(relay::Family::as_str) {
            drop(metrics.requests.get_or_create(&Asked { family, outcome: OK }));
            drop(metrics.durations.get_or_create(&[("family", family)]));
        }
        for code in [relay::RelayErrorCode::UnknownMethod, relay::RelayErrorCode::InvalidRequest] {
            drop(metrics.refused.get_or_create(&[("code", code.as_str())]));
        }
        metrics
    }
}

impl Metrics {
    pub(crate) fn connected(&self) {
        self.connects.inc();
    }

    pub(crate) fn disconnected(&self) {
        self.disconnects.inc();
    }

    /// Something that is not known was asked.
    pub(crate) fn refused(&self, code: relay::RelayErrorCode) {
        self.refused.get_or_create(&[("code", code.as_str())]).inc();
    }

    /// A request has ended.
    pub(crate) fn ended(&self, family: relay::Family, error: Option<relay::RelayErrorCode>, took: Duration) {
        let outcome = error.map_or(OK, relay::RelayErrorCode::as_str);
        self.requests.get_or_create(&Asked { family: family.as_str(), outcome }).inc();
        self.durations.get_or_create(&[("family", family.as_str())]).observe(took.as_secs_f64());
    }

    /// Tells what was counted, and how many devices, environments and approvals there are.
    pub(crate) fn register(&self, registry: &mut Registry, (devices, environments, waits): (u64, u64, u64)) {
        registry.register("connects", "Device connections opened", self.connects.clone());
        registry.register("disconnects", "Device connections closed", self.disconnects.clone());
        registry.register("requests", "Requests to devices, by outcome", self.requests.clone());
        registry.register("refused", "Requests rejected as invalid", self.refused.clone());
        let help = "Duration of requests to devices";
        registry.register_with_unit(
            "request_duration",
            help,
            prometheus_client::registry::Unit::Seconds,
            self.durations.clone(),
        );
        registry.register("devices", "Connected devices", ConstGauge::new(devices));
        registry.register("environments", "Existing environments", ConstGauge::new(environments));
        registry.register("approvals_open", "Open approval requests", ConstGauge::new(waits));
    }
}
