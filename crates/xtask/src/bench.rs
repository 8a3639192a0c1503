//! `cargo xtask bench`: our daemon against the floor and, if one is given, against another server, in one run.
//!
//! The measuring is done by `bench-load` of the `bench` crate, built with the `dist` profile as the daemon is. This builds and
//! runs it, holds its figures against the bars, prints the table and keeps it.

mod bars;
mod document;
mod figures;
mod table;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, bail};

use figures::BenchReport;
use table::BenchTable;

use crate::sh;

/// The path below its home where the peer `sandbox-agent` looks for its mock agent.
const PEER_AGENT: &str = ".local/share/sandbox-agent/bin/agent_processes/mock-acp";

/// The document that holds the last table.
const DOCUMENT: &str = "docs/benchmarks.md";

/// Selects the measures and the servers to compare.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchOptions {
    /// Another server to compare with, started as `PATH server --no-token --host H --port P`
    #[arg(long, value_name = "PATH")]
    against: Option<PathBuf>,
    /// Where that server looks for its mock agent, below its home; our stub is put there
    #[arg(long, value_name = "PATH", default_value = PEER_AGENT)]
    against_agent: PathBuf,
    /// Only these: post, sse, memory, connections, start, files, death, stop, stalled, syscalls, first, journal,
    /// sessions, permission, open, hub, relay
    #[arg(long, value_delimiter = ',', value_name = "MEASURE")]
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
}

/// Measures, prints the table, and writes it to the document if asked to.
pub(crate) fn run(options: &BenchOptions) -> anyhow::Result<()> {
    let programs = build(options)?;
    let json = options.json.clone().unwrap_or_else(|| programs.target.join("bench.json"));
    let text = load(&programs, options)?;
    fs::write(&json, &text).with_context(|| format!("could not write `{}`", json.display()))?;
    let report: BenchReport =
        serde_json::from_str(&text).context("the load generator printed an unknown report")?;
    let table = BenchTable::of(&report);
    println!("{}\n{}", report.machine(), table.render());
    println!("{} (figures: {})", table.summary(), json.display());
    report.failures().for_each(|failure| eprintln!("{failure}"));
    if options.write {
        let path = sh::root().join(DOCUMENT);
        fs::write(&path, document::render(&report, &table)).context("could not write the document")?;
    }
    Ok(())
}

/// The binaries that take part in a run.
struct BenchPrograms {
    target: PathBuf,
    daemon: PathBuf,
}

impl BenchPrograms {
    fn tool(&self, name: &str) -> PathBuf {
        self.target.join("dist").join(name)
    }
}

fn build(options: &BenchOptions) -> anyhow::Result<BenchPrograms> {
    sh::run("cargo build --quiet --profile dist --package bench --bins")?;
    if options.daemon.is_none() {
        sh::run("cargo build --quiet --profile dist --package cli")?;
    }
    let target = sh::target_dir()?;
    let daemon = options.daemon.clone().unwrap_or_else(|| target.join("dist/tombolo"));
    Ok(BenchPrograms { daemon, target })
}

/// Runs the load generator and returns its report as JSON.
fn load(programs: &BenchPrograms, options: &BenchOptions) -> anyhow::Result<String> {
    let absolute = |path: &Path| std::path::absolute(path).context("could not find the current directory");
    let mut command = Command::new(programs.tool("bench-load"));
    command.arg("run").arg("--ours").arg(absolute(&programs.daemon)?);
    command.arg("--stub").arg(programs.tool("bench-stub"));
    command.arg("--dir").arg(options.dir.as_deref().unwrap_or(&programs.target));
    command.arg("--against-agent").arg(&options.against_agent);
    if let Some(peer) = &options.against {
        command.arg("--against").arg(absolute(peer)?);
    }
    if !options.only.is_empty() {
        command.args(["--only", &options.only.join(",")]);
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
