//! Counts the tests of a CI run: how many passed, which passed only when they were tried again, which were skipped and why.
//!
//! The test runners write reports (nextest JUnit, vitest JSON). The summary names a runner that wrote none. A Rust test that
//! cannot run on a machine prints a line with [`SKIPPED`] and returns, which its runner takes for a pass; here it counts as
//! skipped.

use std::{fmt, fs, path::PathBuf};

use anyhow::{Context, bail};
use serde::Deserialize;

use crate::sh;

/// Begins the line that a test prints when it skips itself; the reason follows.
const SKIPPED: &str = "SKIPPED: ";

/// The outcome of one test runner.
#[derive(Debug, Default, PartialEq)]
struct RunnerOutcome {
    passed: usize,
    failed: usize,
    /// Tests that failed once and passed when they were tried again: each hides a race.
    flaky: Vec<String>,
    /// The name of each skipped test, with the reason if the test states one.
    skipped: Vec<String>,
}

/// The outcomes of all test runners of a CI run.
#[derive(Debug)]
pub(crate) struct TestSummary {
    rust: Option<RunnerOutcome>,
    typescript: Option<RunnerOutcome>,
}

/// The report that vitest writes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VitestReport {
    test_results: Vec<VitestFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VitestFile {
    assertion_results: Vec<VitestTest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VitestTest {
    full_name: String,
    status: String,
}

/// The path of the JUnit report that `.config/nextest.toml` asks for.
fn junit_path() -> anyhow::Result<PathBuf> {
    Ok(sh::target_dir()?.join("nextest/default/junit.xml"))
}

/// The path that `cargo xtask typescript` makes vitest write its report to.
pub(crate) fn vitest_path() -> anyhow::Result<PathBuf> {
    Ok(sh::target_dir()?.join("vitest.json"))
}

impl TestSummary {
    /// Deletes the reports of an earlier run, which must not be counted for this one.
    pub(crate) fn forget_previous_run() -> anyhow::Result<()> {
        for path in [junit_path()?, vitest_path()?] {
            if path.exists() {
                fs::remove_file(&path).with_context(|| format!("could not delete {}", path.display()))?;
            }
        }
        Ok(())
    }

    /// Fails if a test was skipped: where everything can be installed, every test can run.
    pub(crate) fn check_complete(&self) -> anyhow::Result<()> {
        let outcomes = [&self.rust, &self.typescript].into_iter().flatten();
        let skipped = Vec::from_iter(outcomes.flat_map(|outcome| &outcome.skipped).map(String::as_str));
        if !skipped.is_empty() {
            bail!("{} tests were skipped, which CI does not allow:\n{}", skipped.len(), skipped.join("\n"));
        }
        Ok(())
    }

    /// Reads the reports that the test runners wrote.
    pub(crate) fn collect() -> anyhow::Result<Self> {
        let rust = fs::read_to_string(junit_path()?).ok().map(|report| parse_junit(&report));
        let typescript = fs::read_to_string(vitest_path()?).ok().map(|report| parse_vitest(&report));
        Ok(Self { rust, typescript: typescript.transpose()? })
    }
}

/// Reads nextest's JUnit report: one `<testcase …>` per test, with `<failure`, `<error`, `<flakyFailure`, `<flakyError` or
/// `<skipped` inside it.
fn parse_junit(report: &str) -> RunnerOutcome {
    let mut outcome = RunnerOutcome::default();
    for case in report.split("<testcase ").skip(1) {
        let case = case.split("</testcase>").next().unwrap_or(case);
        let attribute = |name: &str| {
            let start = case.find(&format!("{name}=\""))? + name.len() + 2;
            Some(case[start..].split('"').next().unwrap_or_default().to_owned())
        };
        let name = format!(
            "{} {}",
            attribute("classname").unwrap_or_default(),
            attribute("name").unwrap_or_default()
        );
        if case.contains("<failure") || case.contains("<error") {
            outcome.failed += 1;
        } else if case.contains("<skipped") {
            outcome.skipped.push(name);
        } else if let Some((_, line)) = case.split_once(SKIPPED) {
            let reason = line.lines().next().unwrap_or_default().split('<').next().unwrap_or_default();
            outcome.skipped.push(format!("{name}: {reason}"));
        } else {
            outcome.passed += 1;
            if case.contains("<flakyFailure") || case.contains("<flakyError") {
                outcome.flaky.push(name);
            }
        }
    }
    outcome
}

fn parse_vitest(report: &str) -> anyhow::Result<RunnerOutcome> {
    let report: VitestReport = serde_json::from_str(report).context("vitest wrote an unknown report")?;
    let mut outcome = RunnerOutcome::default();
    for test in report.test_results.into_iter().flat_map(|file| file.assertion_results) {
        match test.status.as_str() {
            "passed" => outcome.passed += 1,
            "failed" => outcome.failed += 1,
            _ => outcome.skipped.push(test.full_name),
        }
    }
    Ok(outcome)
}

impl fmt::Display for TestSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runners = [("Rust", &self.rust), ("TypeScript", &self.typescript)];
        for (name, outcome) in runners {
            let Some(outcome) = outcome else {
                writeln!(f, "{name}: not counted, its test runner wrote no report")?;
                continue;
            };
            writeln!(
                f,
                "{name}: {} passed, {} failed, {} skipped, {} passed when tried again",
                outcome.passed,
                outcome.failed,
                outcome.skipped.len(),
                outcome.flaky.len()
            )?;
            outcome.flaky.iter().try_for_each(|test| writeln!(f, "  tried again: {test}"))?;
            outcome.skipped.iter().try_for_each(|test| writeln!(f, "  skipped: {test}"))?;
        }
        let outcomes = || runners.iter().filter_map(|(_, outcome)| outcome.as_ref());
        let (passed, failed): (usize, usize) = outcomes()
            .fold((0, 0), |(passed, failed), outcome| (passed + outcome.passed, failed + outcome.failed));
        let skipped: usize = outcomes().map(|outcome| outcome.skipped.len()).sum();
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JUNIT: &str = r#"<testsuites><testsuite name="files">
        <testcase name="a" classname="files" time="0.1"></testcase>
        <testcase name="b" classname="files" time="0.1"/>
        <testcase name="c" classname="files"><flakyFailure type="x">late</flakyFailure></testcase>
        <testcase name="d" classname="files"><failure type="x">wrong</failure></testcase>
        <testcase name="e" classname="files"><skipped/></testcase>
        <testcase name="f" classname="files"><system-err>log
SKIPPED: f needs root</system-err></testcase>
    </testsuite></testsuites>"#;

    const VITEST: &str = r#"{"testResults":[{"assertionResults":[
        {"fullName":"one","status":"passed"},{"fullName":"two","status":"skipped"},{"fullName":"three","status":"failed"}]}]}"#;

    #[test]
    fn nextest_reports_are_counted() {
        let outcome = parse_junit(JUNIT);
        let expected = RunnerOutcome {
            passed: 3,
            failed: 1,
            flaky: vec!["files c".into()],
            skipped: vec!["files e".into(), "files f: f needs root".into()],
        };
        assert_eq!(outcome, expected);
    }

    #[test]
    fn a_skipped_test_makes_the_run_incomplete() {
        let run = |rust| TestSummary { rust: Some(rust), typescript: None };
        let message = run(parse_junit(JUNIT)).check_complete().unwrap_err().to_string();
        assert!(message.starts_with("2 tests were skipped") && message.contains("f needs root"), "{message}");
        run(RunnerOutcome { passed: 3, ..RunnerOutcome::default() }).check_complete().unwrap();
    }

    #[test]
    fn vitest_reports_are_counted() {
        let outcome = parse_vitest(VITEST).unwrap();
        assert_eq!((outcome.passed, outcome.failed, outcome.skipped), (1, 1, vec!["two".to_owned()]));
    }

    #[test]
    fn the_last_line_sums_up_all_runners() {
        let summary = TestSummary { rust: Some(parse_junit(JUNIT)), typescript: parse_vitest(VITEST).ok() };
        let text = summary.to_string();
        assert!(text.ends_with("\n4 passed, 2 failed, 3 skipped"), "{text}");
        assert!(text.contains("  tried again: files c\n  skipped: files e\n"), "{text}");
        let missing = TestSummary { rust: None, typescript: None }.to_string();
        assert!(missing.contains("Rust: not counted"), "{missing}");
    }
}
