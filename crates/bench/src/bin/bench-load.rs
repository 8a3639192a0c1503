//! Loads servers and prints the measurements as JSON. `cargo xtask bench` builds and runs this program, and compares
//! its figures with the performance bars.

use std::{io, path::PathBuf, time::Instant};

use bench::{Lab, Machine, Report, Spinners, floor::Floor, measure::Measure};
use clap::{Parser, ValueEnum};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Load servers and print the measurements as JSON.
#[derive(Debug, Parser)]
enum Options {
    /// Run the measurements.
    Run(Run),
    /// Serve as a floor: the simplest program that does the same work as the measured server.
    #[command(subcommand)]
    Floor(Floor),
}

#[derive(Debug, clap::Args)]
struct Run {
    /// Use this Tombolo program for the daemon, the hub and the device.
    #[arg(long)]
    ours: PathBuf,
    /// Use this `bench-stub` program as the agent.
    #[arg(long)]
    stub: PathBuf,
    /// Compare with this server, which must have the same routes.
    #[arg(long)]
    against: Option<PathBuf>,
    /// Place the stub at this path below the home of the other server, where that server looks for its mock agent.
    #[arg(long)]
    against_agent: PathBuf,
    /// Write large files below this directory.
    #[arg(long)]
    dir: PathBuf,
    /// Run only these measurements, separated by commas.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Measure>,
    /// Run fewer and smaller rounds.
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
    // Some measurements open hundreds of connections. The servers inherit the limit from this process.
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
