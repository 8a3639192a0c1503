//! The result of a run: samples and notes, by figure and by subject.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Serialize;

use super::proc;

/// The samples of one figure for one subject.
#[derive(Debug, Default, Serialize)]
pub struct Figure {
    /// The median of the samples.
    pub median: f64,
    /// The samples in the order in which they were measured.
    pub samples: Vec<f64>,
}

/// The result of a run, which `bench-load` prints as JSON.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The machine of the run.
    pub machine: Machine,
    /// Whether the run had fewer and smaller rounds.
    pub quick: bool,
    /// The duration of the whole run.
    pub seconds: f64,
    /// Figures by key (such as `post.32.p50`), then by subject (`ours`, `peer` or the name of a floor).
    pub figures: BTreeMap<String, BTreeMap<String, Figure>>,
    /// Remarks, such as a status code or a timeout, by key and then by subject.
    pub notes: BTreeMap<String, BTreeMap<String, String>>,
    /// The error messages of measurements that failed, by measurement.
    pub failures: BTreeMap<String, String>,
}

impl Report {
    /// Adds a sample to a figure and updates its median.
    pub fn add(&mut self, key: impl Into<String>, subject: &str, sample: f64) {
        let figure = self.figures.entry(key.into()).or_default().entry(subject.to_owned()).or_default();
        figure.samples.push(sample);
        figure.median = median(&figure.samples);
    }

    /// Sets the remark on a figure; it replaces an earlier one.
    pub fn note(&mut self, key: impl Into<String>, subject: &str, note: impl Into<String>) {
        self.notes.entry(key.into()).or_default().insert(subject.to_owned(), note.into());
    }
}

fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The machine on which a run was made.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Machine {
    /// The model name of the processor.
    pub cpu: String,
    /// The number of cores that this process may use.
    pub cores: usize,
    /// The release of the Linux kernel.
    pub kernel: String,
    /// The total memory.
    pub memory_mib: u64,
    /// The load average of the minute before the run. A high value means that other programs disturbed the run.
    pub load: String,
}

impl Machine {
    /// Describes the current machine.
    pub fn this() -> Self {
        let read = |path: &str| fs::read_to_string(Path::new(path)).unwrap_or_default();
        let info = read("/proc/cpuinfo");
        let model = info.lines().find(|line| line.starts_with("model name"));
        Self {
            cpu: model
                .and_then(|line| line.split_once(": "))
                .map_or_else(String::new, |(_, model)| model.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, Into::into),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            memory_mib: proc::field("/proc/meminfo", "MemTotal:") / 1024,
            load: read("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
