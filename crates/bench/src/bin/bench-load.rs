//! Loads servers and prints what it saw as JSON. `cargo xtask bench` builds it, runs it and judges the figures.

use std::{io, path::PathBuf, time::Instant};

use bench::{Lab, Machine, Report, Spinners, floor::Floor, measure::Measure};
use clap::{Parser, ValueEnum};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Load servers and print what was seen as JSON.
#[derive(Debug, Parser)]
enum Options {
    /// Measure.
    Run(Run),
    /// Be a floor.
    #[command(subcommand)]
    Floor(Floor),
}

#[derive(Debug, clap::Args)]
struct Run {
    /// Our daemon.
    #[arg(long)]
    ours: PathBuf,
    /// The stub agent.
    #[arg(long)]
    stub: PathBuf,
    /// A server to compare with.
    #[arg(long)]
    against: Option<PathBuf>,
    /// Where that server looks for its mock agent, below its home.
    #[arg(long)]
    against_agent: PathBuf,
    /// Where large files are written.
    #[arg(long)]
    dir: PathBuf,
    /// What to measure.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Measure>,
    /// Measure less.
    #[arg(long)]
    quick: bool,
}

fn main() -> io::Result<()> {
    match Options::parse() {
        Options::Floor(floor) => floor.serve(),
        Options::Run(run) => measure(run),
    }
}

fn measure(run: Run) -> io::Result<()> {
    // Hundreds of connections need as many descriptors, here and in the servers.
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    let started = Instant::now();
    let mut report = Report { machine: Machine::this(), quick: run.quick, ..Report::default() };
    let lab = Lab {
        ours: run.ours,
        peer: run.against,
        peer_agent: run.against_agent,
        stub: run.stub,
        own: std::env::current_exe()?,
        quick: run.quick,
        dir: run.dir,
    };
    let measures = if run.only.is_empty() { Measure::value_variants().to_vec() } else { run.only };
    for measure in measures {
        let began = Instant::now();
        let spinners = measure.keeps_awake().then(|| Spinners::start(&lab.stub)).transpose()?;
        if let Err(error) = measure.run(&lab, &mut report) {
            report.failures.insert(format!("{measure:?}"), error.to_string());
        }
        drop(spinners);
        eprintln!("measured {measure:?} in {:.1} s", began.elapsed().as_secs_f64());
    }
    report.seconds = started.elapsed().as_secs_f64();
    serde_json::to_writer_pretty(io::stdout().lock(), &report).map_err(io::Error::other)
}
