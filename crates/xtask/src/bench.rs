//! `cargo xtask bench`: our daemon against the floor and, if one is given, against another server, in one run.
//!
//! The measuring is done by `bench-load` of the `bench` crate, built with the `dist` profile as the daemon is. This builds and
//! runs it, holds its figures against the bars, prints the table and keeps it.

mod bars;
mod comparison;
mod document;
mod figures;
mod table;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, bail};

use comparison::{BenchComparison, BuildRounds};
use figures::BenchReport;
use table::BenchTable;

use crate::{published_build::PublishedBuild, sh, system};

/// The path below its home where the peer `sandbox-agent` looks for its mock agent.
const PEER_AGENT: &str = ".local/share/sandbox-agent/bin/agent_processes/mock-acp";

/// The document that holds the last table.
const DOCUMENT: &str = "docs/benchmarks.md";

/// The measures of the load generator.
const MEASURES: [&str; 17] = [
    "post",
    "sse",
    "memory",
    "connections",
    "start",
    "files",
    "death",
    "stop",
    "stalled",
    "syscalls",
    "first",
    "journal",
    "sessions",
    "permission",
    "open",
    "hub",
    "relay",
];

/// Selects the measures and the servers to compare.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchOptions {
    /// Another server to compare with, started as `PATH server --no-token --host H --port P`
    #[arg(long, value_name = "PATH")]
    against: Option<PathBuf>,
    /// Where that server looks for its mock agent, below its home; our stub is put there
    #[arg(long, value_name = "PATH", default_value = PEER_AGENT)]
    against_agent: PathBuf,
    /// Only these
    #[arg(long, value_delimiter = ',', value_name = "MEASURE", value_parser = MEASURES)]
    only: Vec<String>,
    /// Measure less, in about a minute
    #[arg(long)]
    quick: bool,
    /// Where the figures go; `target/bench.json` if left out
    #[arg(long, value_name = "PATH")]
    json: Option<PathBuf>,
    /// Keep the table in `docs/benchmarks.md`
    #[arg(long)]
    write: bool,
    /// Where large files are written while they are measured
    #[arg(long, value_name = "PATH")]
    dir: Option<PathBuf>,
    /// Measure this daemon instead of building one
    #[arg(long, value_name = "PATH")]
    daemon: Option<PathBuf>,
    /// Compare with this earlier build instead of a table: both are measured in turns, and the changes are printed
    #[arg(long, value_name = "PATH", conflicts_with_all = ["against", "json", "write"])]
    baseline: Option<PathBuf>,
    /// How often each build is measured in a comparison
    #[arg(long, default_value_t = 3, requires = "baseline")]
    rounds: usize,
}

/// Measures, prints the table, and writes it to the document if asked to.
pub(crate) fn run(options: &BenchOptions) -> anyhow::Result<()> {
    // The device runs the commands of the relay measure in a sandbox.
    system::install("bwrap", "bubblewrap", "the relay measure")?;
    let programs = build(options)?;
    if let Some(baseline) = &options.baseline {
        return compare(&programs, baseline, options);
    }
    let json =
        options.json.clone().map_or_else(|| sh::target_dir().map(|target| target.join("bench.json")), Ok)?;
    let text = load(&programs, &programs.daemon, &options.only, options)?;
    fs::write(&json, &text).with_context(|| format!("could not write `{}`", json.display()))?;
    let report: BenchReport =
        serde_json::from_str(&text).context("the load generator printed an unknown report")?;
    let table = BenchTable::of(&report);
    println!("{}\n{}", report.machine(), table.render());
    println!("{} (figures: {})", table.summary(), json.display());
    report.failures().for_each(|failure| eprintln!("{failure}"));
    if options.write {
        let path = sh::root().join(DOCUMENT);
        fs::write(&path, document::render(&report, &table, &commit()?))
            .context("could not write the document")?;
    }
    Ok(())
}

/// The commit of the checkout, with its date.
fn commit() -> anyhow::Result<String> {
    let output = sh::command("git").args(["log", "-1", "--format=%h of %cs"]).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The binaries that take part in a run.
struct BenchPrograms {
    /// The directory of the load generator and the stub agent.
    tools: PathBuf,
    daemon: PathBuf,
}

fn build(options: &BenchOptions) -> anyhow::Result<BenchPrograms> {
    let published = PublishedBuild::for_host()?;
    let tools = published.build("bench")?;
    // In a build of its own: together with the tools, its dependencies would have more features than what is published.
    let daemon = match &options.daemon {
        Some(daemon) => daemon.clone(),
        None => published.build("cli")?.join("tombolo"),
    };
    Ok(BenchPrograms { tools, daemon })
}

/// Measures `baseline` and the current build in turns, and prints how the figures changed.
fn compare(programs: &BenchPrograms, baseline: &Path, options: &BenchOptions) -> anyhow::Result<()> {
    let all = MEASURES.map(str::to_owned);
    let measures = if options.only.is_empty() { &all[..] } else { &options.only };
    let (mut before, mut after) = (BuildRounds::default(), BuildRounds::default());
    // All rounds of a measure follow each other, so that both builds meet the same state of the machine.
    for measure in measures {
        for round in 0..options.rounds {
            for (daemon, rounds) in [(baseline, &mut before), (&*programs.daemon, &mut after)] {
                let text = load(programs, daemon, std::slice::from_ref(measure), options)?;
                let report =
                    serde_json::from_str(&text).context("the load generator printed an unknown report")?;
                rounds.add(round, report);
            }
        }
    }
    before.failures().for_each(|failure| eprintln!("before: {failure}"));
    after.failures().for_each(|failure| eprintln!("after: {failure}"));
    let comparison = BenchComparison::new(&before, &after);
    println!("{}\n{}", comparison.render(), comparison.summary());
    Ok(())
}

/// Runs the load generator with `daemon` and returns its report as JSON.
fn load(
    programs: &BenchPrograms,
    daemon: &Path,
    measures: &[String],
    options: &BenchOptions,
) -> anyhow::Result<String> {
    let absolute = |path: &Path| std::path::absolute(path).context("could not find the current directory");
    let mut command = Command::new(programs.tools.join("bench-load"));
    command.arg("run").arg("--ours").arg(absolute(daemon)?);
    command.arg("--stub").arg(programs.tools.join("bench-stub"));
    command.arg("--dir").arg(options.dir.as_deref().unwrap_or(&programs.tools));
    command.arg("--against-agent").arg(&options.against_agent);
    if let Some(peer) = &options.against {
        command.arg("--against").arg(absolute(peer)?);
    }
    if !measures.is_empty() {
        command.args(["--only", &measures.join(",")]);
    }
    if options.quick {
        command.arg("--quick");
    }
    let output = command.stderr(Stdio::inherit()).output().context("could not run the load generator")?;
    if !output.status.success() {
        bail!("the load generator failed; its messages are above");
    }
    Ok(String::from_utf8(output.stdout)?)
}
