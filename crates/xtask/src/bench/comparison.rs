//! Compares a build with an earlier one: both are measured in turns, round by round, and every row shows how much the newer
//! build costs more or less.
//!
//! A single pair of runs says little on a shared machine. The spread between the rounds of the same build shows how much of
//! a change is noise, and a row counts as worse only if it is worse by more than its spread and [`TOLERANCE`] together.

use super::{
    bars::{BenchRow, PerformanceBar, ROWS},
    figures::BenchReport,
    table::{format_number, render_markdown},
};

/// A row may be this much worse, beyond its spread.
const TOLERANCE: f64 = 0.05;

const HEADINGS: [&str; 6] = ["measure", "before", "after", "change", "spread", ""];

/// The reports of one build, one per round. A round has several reports, because each measure runs on its own.
#[derive(Debug, Default)]
pub(crate) struct BuildRounds(Vec<Vec<BenchReport>>);

impl BuildRounds {
    /// Adds the report of one measure to a round. Rounds count from zero.
    pub(crate) fn add(&mut self, round: usize, report: BenchReport) {
        self.0.resize_with(self.0.len().max(round + 1), Vec::new);
        self.0[round].push(report);
    }

    /// One sentence per measure that failed.
    pub(crate) fn failures(&self) -> impl Iterator<Item = String> {
        self.0.iter().flatten().flat_map(BenchReport::failures)
    }

    /// The figure of a row in each round, in the order of their size.
    fn figures(&self, row: &BenchRow) -> Vec<f64> {
        let figure =
            |reports: &Vec<BenchReport>| reports.iter().find_map(|report| row.compared_figure(report));
        let mut figures: Vec<f64> = self.0.iter().filter_map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures
    }
}

/// The rows of two builds side by side.
#[derive(Debug)]
pub(crate) struct BenchComparison {
    rows: Vec<[String; 6]>,
    judged: usize,
    worse: Vec<&'static str>,
}

impl BenchComparison {
    pub(crate) fn new(before: &BuildRounds, after: &BuildRounds) -> Self {
        let mut comparison = Self { rows: Vec::new(), judged: 0, worse: Vec::new() };
        for row in ROWS {
            let (Some(old), Some(new)) =
                (Sample::new(&before.figures(row)), Sample::new(&after.figures(row)))
            else {
                continue;
            };
            let change = if old.median == 0.0 { 0.0 } else { new.median / old.median - 1.0 };
            let spread = old.spread.max(new.spread);
            let loss = if row.is_rate() { -change } else { change };
            let verdict = if !row.is_judged() {
                ""
            } else if loss > TOLERANCE + spread {
                comparison.worse.push(row.title);
                "**worse**"
            } else {
                "held"
            };
            comparison.judged += usize::from(row.is_judged());
            comparison.rows.push([
                row.title.to_owned(),
                row.compared_cell(old.median),
                row.compared_cell(new.median),
                format!("{:+.1} %", change * 100.0),
                format!("± {:.1} %", spread * 100.0),
                verdict.to_owned(),
            ]);
        }
        comparison
    }

    /// Renders aligned Markdown.
    pub(crate) fn render(&self) -> String {
        render_markdown(&HEADINGS, &self.rows)
    }

    /// Summarises how many judged rows held, and names the others.
    pub(crate) fn summary(&self) -> String {
        let held = self.judged - self.worse.len();
        let summary =
            format!("{held} of {} CPU and ratio rows held (5 % and the spread are allowed)", self.judged);
        if self.worse.is_empty() { summary } else { format!("{summary}; worse: {}", self.worse.join("; ")) }
    }
}

/// The figures of one build in all rounds.
struct Sample {
    median: f64,
    /// Half the distance between the smallest and the largest figure, relative to the median.
    spread: f64,
}

impl Sample {
    /// `None` if no round has a figure.
    fn new(sorted: &[f64]) -> Option<Self> {
        let (first, last) = (*sorted.first()?, *sorted.last()?);
        let median = f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        let spread = if median == 0.0 { 0.0 } else { (last - first) / 2.0 / median.abs() };
        Some(Self { median, spread })
    }
}

impl BenchRow {
    /// Our figure. If its bar names a floor, its ratio to the floor of the same round: both suffer alike when another
    /// program loads the machine.
    fn compared_figure(&self, report: &BenchReport) -> Option<f64> {
        let ours = report.median(self.key, "ours")?;
        match self.floor_of_bar() {
            Some(floor) => Some(ours / report.median(self.key, floor).filter(|floor| *floor != 0.0)?),
            None => Some(ours),
        }
    }

    fn compared_cell(&self, figure: f64) -> String {
        match self.floor_of_bar() {
            Some(floor) => format!("{} × {floor}", format_number(figure)),
            None => format!("{} {}", format_number(figure), self.unit).trim_end().to_owned(),
        }
    }

    /// The floor that the bar of this row names.
    fn floor_of_bar(&self) -> Option<&'static str> {
        match self.bar {
            PerformanceBar::FloorLeast(_) | PerformanceBar::FloorMost(_) => self.floors.first().copied(),
            _ => None,
        }
    }

    /// CPU times and ratios to a floor repeat well enough to be judged; wall times and memory are for information.
    fn is_judged(&self) -> bool {
        self.title.contains("CPU") || self.floor_of_bar().is_some()
    }

    /// Whether more is better.
    fn is_rate(&self) -> bool {
        self.unit.ends_with("/s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(figures: &str) -> BenchReport {
        let machine = r#"{"cpu":"x","cores":2,"kernel":"6","memoryMib":1,"load":"0"}"#;
        let text = format!(
            r#"{{"machine":{machine},"quick":true,"seconds":1.0,"figures":{{{figures}}},"notes":{{}},"failures":{{}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn rounds(reports: &[String]) -> BuildRounds {
        let mut rounds = BuildRounds::default();
        reports.iter().enumerate().for_each(|(round, figures)| rounds.add(round, report(figures)));
        rounds
    }

    fn cpu(values: &[f64]) -> BuildRounds {
        let figures = values.iter().map(|value| format!(r#""post.32.cpu":{{"ours":{{"median":{value}}}}}"#));
        rounds(&figures.collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(before: &BuildRounds, after: &BuildRounds, expected: &str) {
        let comparison = BenchComparison::new(before, after);
        assert!(
            comparison.summary().starts_with(expected),
            "{}\n{}",
            comparison.summary(),
            comparison.render()
        );
    }

    #[test]
    fn a_row_is_worse_only_beyond_its_spread() {
        check(&cpu(&[10.0, 10.0, 10.0]), &cpu(&[10.4, 10.4, 10.4]), "1 of 1");
        check(&cpu(&[10.0, 10.0, 10.0]), &cpu(&[10.6, 10.6, 10.6]), "0 of 1");
        check(&cpu(&[9.5, 10.0, 10.5]), &cpu(&[10.6, 10.6, 10.6]), "1 of 1");
        check(&cpu(&[10.0, 10.0, 10.0]), &cpu(&[8.0, 8.0, 8.0]), "1 of 1");
    }

    #[test]
    fn a_rate_beside_a_floor_is_compared_by_its_ratio() {
        let put = |ours: f64, floor: f64| {
            let figures =
                format!(r#""files.put":{{"ours":{{"median":{ours}}},"loopback":{{"median":{floor}}}}}"#);
            rounds(&[figures])
        };
        check(&put(800.0, 1000.0), &put(400.0, 500.0), "1 of 1");
        check(&put(800.0, 1000.0), &put(700.0, 1000.0), "0 of 1");
    }

    #[test]
    fn wall_times_are_shown_and_not_judged() {
        let start = |value: f64| rounds(&[format!(r#""start":{{"ours":{{"median":{value}}}}}"#)]);
        let comparison = BenchComparison::new(&start(10.0), &start(20.0));
        assert!(comparison.summary().starts_with("0 of 0"), "{}", comparison.summary());
        assert!(comparison.render().contains("+100.0 %"), "{}", comparison.render());
    }
}
