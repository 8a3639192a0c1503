//! The result of a run: samples and notes, by figure and by system.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Machine;

/// The samples of one figure for one system.
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
pub struct RunReport {
    /// The machine of the run.
    pub machine: Machine,
    /// Whether the run had fewer and smaller rounds.
    pub quick: bool,
    /// The duration of the whole run.
    pub seconds: f64,
    /// Figures by key (such as `post.32.p50`), then by system (`ours`, `peer` or the name of a floor).
    pub figures: BTreeMap<String, BTreeMap<String, Figure>>,
    /// Remarks, such as a status code or a timeout, by key and then by system.
    pub notes: BTreeMap<String, BTreeMap<String, String>>,
    /// The error messages of measurements that failed, by measurement.
    pub failures: BTreeMap<String, String>,
}

impl RunReport {
    /// Adds a sample to a figure and updates its median.
    pub fn add(&mut self, key: impl Into<String>, system: &str, sample: f64) {
        let figure = self.figures.entry(key.into()).or_default().entry(system.to_owned()).or_default();
        figure.samples.push(sample);
        figure.median = median(&figure.samples);
    }

    /// Sets the remark on a figure; it replaces an earlier one.
    pub fn note(&mut self, key: impl Into<String>, system: &str, note: impl Into<String>) {
        self.notes.entry(key.into()).or_default().insert(system.to_owned(), note.into());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
