//! Loads servers and prints the measurements as JSON. `cargo xtask bench` builds and runs this program, and compares
//! its figures with the performance bars.

use std::{io, path::PathBuf, time::Instant};

use bench::{BenchSetup, Machine, RunReport, Spinners, floor::Floor, measure::Measurement};
use clap::{Parser, ValueEnum};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Load servers and print the measurements as JSON.
#[derive(Debug, Parser)]
enum BenchCommand {
    /// Run the measurements.
    Run(RunArgs),
    /// Serve as a floor: the simplest program that does the same work as the measured server.
    #[command(subcommand)]
    Floor(Floor),
}

#[derive(Debug, clap::Args)]
struct RunArgs {
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
    only: Vec<Measurement>,
    /// Run fewer and smaller rounds.
    #[arg(long)]
    quick: bool,
}

fn main() -> io::Result<()> {
    match BenchCommand::parse() {
        BenchCommand::Floor(floor) => floor.serve(),
        BenchCommand::Run(args) => run_measurements(args),
    }
}

fn run_measurements(args: RunArgs) -> io::Result<()> {
    // Some measurements open hundreds of connections. The servers inherit the limit from this process.
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    let started = Instant::now();
    let mut report = RunReport { machine: Machine::current(), quick: args.quick, ..RunReport::default() };
    let setup = BenchSetup {
        ours: args.ours,
        peer: args.against,
        peer_agent: args.against_agent,
        stub: args.stub,
        own: std::env::current_exe()?,
        quick: args.quick,
        dir: args.dir,
    };
    let measurements = if args.only.is_empty() { Measurement::value_variants().to_vec() } else { args.only };
    for measurement in measurements {
        let began = Instant::now();
        let spinners = measurement.keeps_cores_awake().then(|| Spinners::start(&setup.stub)).transpose()?;
        if let Err(error) = measurement.run(&setup, &mut report) {
            report.failures.insert(format!("{measurement:?}"), error.to_string());
        }
        drop(spinners);
        eprintln!("measured {measurement:?} in {:.1} s", began.elapsed().as_secs_f64());
    }
    report.seconds = started.elapsed().as_secs_f64();
    serde_json::to_writer_pretty(io::stdout().lock(), &report).map_err(io::Error::other)
}
