//! What a run saw: samples by figure and subject, and what cannot be said in numbers.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Serialize;

use super::proc;

/// The samples of one figure of one subject.
#[derive(Debug, Default, Serialize)]
pub struct Figure {
    /// The median of the samples.
    pub median: f64,
    /// In the order they were taken.
    pub samples: Vec<f64>,
}

/// What a run saw.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Where it ran.
    pub machine: Machine,
    /// Whether less was measured.
    pub quick: bool,
    /// How long it took.
    pub seconds: f64,
    /// By key, then by subject.
    pub figures: BTreeMap<String, BTreeMap<String, Figure>>,
    /// What cannot be said in numbers, by key, then by subject.
    pub notes: BTreeMap<String, BTreeMap<String, String>>,
    /// Measures that could not be made, and why.
    pub failures: BTreeMap<String, String>,
}

impl Report {
    /// Adds a sample.
    pub fn add(&mut self, key: impl Into<String>, subject: &str, sample: f64) {
        let figure = self.figures.entry(key.into()).or_default().entry(subject.to_owned()).or_default();
        figure.samples.push(sample);
        figure.median = median(&figure.samples);
    }

    /// Says something about a figure; the last word counts.
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

/// Where a run was made.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Machine {
    /// The model of its processor.
    pub cpu: String,
    /// How many of its cores we may use.
    pub cores: usize,
    /// Its kernel.
    pub kernel: String,
    /// Its memory.
    pub memory_mib: u64,
    /// How busy it was before we began: the load average of the last minute.
    pub load: String,
}

impl Machine {
    /// This one.
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
