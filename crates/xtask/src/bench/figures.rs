//! The report of the load generator.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The figures of one run.
#[derive(Debug, Deserialize)]
pub(crate) struct BenchReport {
    machine: MachineInfo,
    pub(crate) quick: bool,
    pub(crate) seconds: f64,
    figures: BTreeMap<String, BTreeMap<String, MeasuredFigure>>,
    notes: BTreeMap<String, BTreeMap<String, String>>,
    /// Measures that could not be made, and why.
    failures: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct MeasuredFigure {
    /// `None` if there was nothing to compute it from.
    median: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MachineInfo {
    cpu: String,
    cores: usize,
    kernel: String,
    memory_mib: u64,
    load: String,
}

impl BenchReport {
    /// The median of a figure.
    pub(crate) fn median(&self, key: &str, system: &str) -> Option<f64> {
        self.figures.get(key)?.get(system)?.median
    }

    /// A remark about a figure.
    pub(crate) fn note(&self, key: &str, system: &str) -> Option<&str> {
        Some(self.notes.get(key)?.get(system)?.as_str())
    }

    /// One sentence per measure that failed.
    pub(crate) fn failures(&self) -> impl Iterator<Item = String> {
        self.failures.iter().map(|(measure, why)| format!("could not measure {measure}: {why}"))
    }

    /// Describes the machine of the run.
    pub(crate) fn machine(&self) -> String {
        let MachineInfo { cpu, cores, kernel, memory_mib, load } = &self.machine;
        format!(
            "{cores} cores of {cpu}, {} GiB, Linux {kernel}; load before the run {load}",
            memory_mib.div_ceil(1024)
        )
    }
}
