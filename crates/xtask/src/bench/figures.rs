//! What the load generator saw.

use std::collections::BTreeMap;

use serde::Deserialize;

/// One run.
#[derive(Debug, Deserialize)]
pub(crate) struct Report {
    machine: Machine,
    pub(crate) quick: bool,
    pub(crate) seconds: f64,
    figures: BTreeMap<String, BTreeMap<String, Figure>>,
    notes: BTreeMap<String, BTreeMap<String, String>>,
    /// Measures that could not be made, and why.
    failures: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct Figure {
    /// Nothing if nothing could be computed.
    median: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Machine {
    cpu: String,
    cores: usize,
    kernel: String,
    memory_mib: u64,
    load: String,
}

impl Report {
    /// The median of a figure.
    pub(crate) fn median(&self, key: &str, subject: &str) -> Option<f64> {
        self.figures.get(key)?.get(subject)?.median
    }

    /// What was said about a figure.
    pub(crate) fn note(&self, key: &str, subject: &str) -> Option<&str> {
        Some(self.notes.get(key)?.get(subject)?.as_str())
    }

    /// What could not be measured.
    pub(crate) fn failures(&self) -> impl Iterator<Item = String> {
        self.failures.iter().map(|(measure, why)| format!("could not measure {measure}: {why}"))
    }

    /// Where it was made.
    pub(crate) fn machine(&self) -> String {
        let Machine { cpu, cores, kernel, memory_mib, load } = &self.machine;
        format!(
            "{cores} cores of {cpu}, {} GiB, Linux {kernel}; load before the run {load}",
            memory_mib.div_ceil(1024)
        )
    }
}
