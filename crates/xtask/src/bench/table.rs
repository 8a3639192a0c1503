//! The table of measured figures beside their bars.

use super::{
    bars::{BenchRow, PerformanceBar, ROWS},
    figures::BenchReport,
};

const HEADINGS: [&str; 7] = ["measure", "ours", "floor", "peer", "ratio", "bar", ""];

/// The measured rows, with a count of met and missed bars.
#[derive(Debug)]
pub(crate) struct BenchTable {
    rows: Vec<[String; 7]>,
    met: usize,
    missed: Vec<&'static str>,
    open: usize,
}

impl BenchTable {
    pub(crate) fn of(report: &BenchReport) -> Self {
        let mut table = Self { rows: Vec::new(), met: 0, missed: Vec::new(), open: 0 };
        for row in ROWS {
            let ours = report.median(row.key, "ours");
            if ours.is_none() && report.note(row.key, "ours").is_none() {
                continue;
            }
            let verdict = match row.verdict(report) {
                _ if matches!(row.bar, PerformanceBar::Info) => "",
                Some(true) => {
                    table.met += 1;
                    "met"
                }
                Some(false) => {
                    table.missed.push(row.title);
                    "**missed**"
                }
                None => {
                    table.open += 1;
                    "–"
                }
            };
            table.rows.push(row.cells(report, verdict));
        }
        table
    }

    /// Renders aligned Markdown.
    pub(crate) fn render(&self) -> String {
        render_markdown(&HEADINGS, &self.rows)
    }

    /// Summarises how many bars were met, and names the missed ones.
    pub(crate) fn summary(&self) -> String {
        let mut summary = format!("{} bars met, {} missed", self.met, self.missed.len());
        if self.open > 0 {
            summary += &format!(", {} not judged", self.open);
        }
        if !self.missed.is_empty() {
            summary += &format!(": {}", self.missed.join("; "));
        }
        summary
    }
}

impl BenchRow {
    fn verdict(&self, report: &BenchReport) -> Option<bool> {
        let ours = report.median(self.key, "ours")?;
        let peer = || report.median(self.key, "peer");
        Some(match self.bar {
            PerformanceBar::Info => return None,
            PerformanceBar::Most(most) => ours <= most,
            PerformanceBar::Least(least) => ours >= least,
            PerformanceBar::PeerMost(most) => ours <= most * peer()?,
            PerformanceBar::PeerLeast(least) => ours >= least * peer()?,
            PerformanceBar::FloorLeast(least) => {
                ours >= least * report.median(self.key, self.floors.first()?)?
            }
            PerformanceBar::FloorMost(most) => {
                ours <= most * report.median(self.key, self.floors.first()?)?
            }
            PerformanceBar::FloorAdds(more) => {
                ours <= more + report.median(self.key, self.floors.first()?)?
            }
        })
    }

    fn cells(&self, report: &BenchReport, verdict: &str) -> [String; 7] {
        [
            self.title.to_owned(),
            self.cell(report, "ours"),
            self.floors(report),
            self.cell(report, "peer"),
            self.ratio(report).map(format_number).unwrap_or_default(),
            self.bar(),
            verdict.to_owned(),
        ]
    }

    /// Our figure divided by the one that the bar names: the floor or the peer.
    fn ratio(&self, report: &BenchReport) -> Option<f64> {
        let base = match self.bar {
            PerformanceBar::Most(_) | PerformanceBar::Least(_) => return None,
            PerformanceBar::FloorLeast(_) | PerformanceBar::FloorMost(_) | PerformanceBar::FloorAdds(_) => {
                self.floors.first()?
            }
            PerformanceBar::Info | PerformanceBar::PeerMost(_) | PerformanceBar::PeerLeast(_) => "peer",
        };
        let base = report.median(self.key, base).filter(|base| *base != 0.0)?;
        Some(report.median(self.key, "ours")? / base)
    }

    fn cell(&self, report: &BenchReport, system: &str) -> String {
        let figure = report.median(self.key, system).map(|median| self.with_unit(median));
        let note = report.note(self.key, system).map(str::to_owned);
        match (figure, note) {
            (Some(figure), Some(note)) => format!("{figure} ({note})"),
            (figure, note) => figure.or(note).unwrap_or_default(),
        }
    }

    fn floors(&self, report: &BenchReport) -> String {
        let floor = |name: &&str| Some(format!("{name} {}", format_number(report.median(self.key, name)?)));
        self.floors.iter().filter_map(floor).collect::<Vec<_>>().join(", ")
    }

    fn bar(&self) -> String {
        match self.bar {
            PerformanceBar::Info => String::new(),
            PerformanceBar::Most(most) => format!("≤ {}", self.with_unit(most)),
            PerformanceBar::Least(least) => format!("≥ {}", self.with_unit(least)),
            PerformanceBar::PeerMost(most) => format!("≤ {most} × peer"),
            PerformanceBar::PeerLeast(least) => format!("≥ {least} × peer"),
            PerformanceBar::FloorLeast(least) => format!("≥ {least} × floor"),
            PerformanceBar::FloorMost(most) => format!("≤ {most} × floor"),
            PerformanceBar::FloorAdds(more) => format!("≤ floor + {}", self.with_unit(more)),
        }
    }

    fn with_unit(&self, value: f64) -> String {
        format!("{} {}", format_number(value), self.unit).trim_end().to_owned()
    }
}

/// Renders a Markdown table with aligned columns.
pub(super) fn render_markdown<const COLUMNS: usize>(
    headings: &[&str; COLUMNS],
    rows: &[[String; COLUMNS]],
) -> String {
    let headings = headings.map(str::to_owned);
    let width = |column: usize| {
        let cells = rows.iter().chain([&headings]).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let line = |cells: &[String; COLUMNS]| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!(" {cell:<width$} |"));
        format!("|{}\n", cells.collect::<String>())
    };
    let rule: String = widths.iter().map(|width| format!("{}|", "-".repeat(width + 2))).collect();
    let body: String = rows.iter().map(line).collect();
    format!("{}|{rule}\n{body}", line(&headings))
}

/// Formats three significant digits.
pub(super) fn format_number(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 => 0,
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(figures: &str) -> BenchReport {
        let machine = r#"{"cpu":"x","cores":2,"kernel":"6","memoryMib":1,"load":"0"}"#;
        let notes = r#"{"stop.delete":{"peer":"> 10 s"}}"#;
        let text = format!(
            r#"{{"machine":{machine},"quick":false,"seconds":1.0,"figures":{{{figures}}},"notes":{notes},"failures":{{}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_ratio_is_held_against_its_bar() {
        let report = report(r#""start":{"ours":{"median":5.0},"peer":{"median":30.0}}"#);
        let table = BenchTable::of(&report);
        assert_eq!(table.summary(), "1 bars met, 0 missed");
        assert!(table.render().contains("0.167"), "{}", table.render());
    }

    #[test]
    fn without_a_peer_a_ratio_is_not_judged() {
        let report = report(r#""start":{"ours":{"median":5.0}},"stop.delete":{"ours":{"median":2600.0}}"#);
        let table = BenchTable::of(&report);
        assert_eq!(table.summary(), "0 bars met, 1 missed, 1 not judged: DELETE with a stubborn grandchild");
        assert!(table.render().contains("> 10 s"));
    }

    #[test]
    fn a_number_has_three_digits() {
        let numbers = [0.0, 0.0712, 1.5, 12.34, 1234.5].map(format_number);
        assert_eq!(numbers, ["0", "0.071", "1.5", "12.3", "1234"].map(str::to_owned));
    }
}
