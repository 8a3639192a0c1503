//! `cargo xtask …`: all automation, in one language, the same on every machine.

mod agents;
mod audit;
mod bench;
mod ci;
mod codegen;
mod dist;
mod fuzz;
mod released;
mod schemathesis;
mod sessions;
mod sh;
#[cfg(test)]
mod spec_tests;
mod system;
mod test_summary;
mod tidy;
mod typescript;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Check, generate, measure and package Tombolo.")]
struct Xtask {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Measure the daemon, hub and relay beside their floors and another server
    Bench(bench::Options),
    /// Run every check that a change must pass
    Ci,
    /// Check what the compiler cannot: file sizes, names, citations, manifests
    Tidy,
    /// Generate the API documents, the TypeScript types, the CLI reference and the agent tables
    Codegen {
        /// Change nothing and fail if a generated file is out of date
        #[arg(long)]
        check: bool,
    },
    /// Build the npm packages and the program as they are published
    Dist(dist::DistOptions),
    /// Record the public API of a release, which later changes must not break
    ReleaseRecord,
    /// Test a running daemon against its own OpenAPI document
    Schemathesis,
    /// Build, lint and test the TypeScript packages and check their sizes
    Typescript,
    /// Check the licences and sources of all dependencies (needs cargo-deny)
    Audit,
    /// Run the fuzz targets, each for a bounded time
    Fuzz {
        /// Seconds that each target runs
        #[arg(long, default_value_t = 30)]
        seconds: u32,
        /// Run only this target
        target: Option<String>,
    },
}

fn main() -> anyhow::Result<()> {
    match Xtask::parse().task {
        Task::Bench(options) => bench::run(&options),
        Task::Ci => ci::run(),
        Task::Tidy => tidy::run(),
        Task::Codegen { check } => codegen::run(check),
        Task::Dist(options) => dist::run(&options),
        Task::ReleaseRecord => released::write(),
        Task::Schemathesis => schemathesis::run(),
        Task::Typescript => typescript::run(),
        Task::Audit => audit::run(),
        Task::Fuzz { seconds, target } => fuzz::run(seconds, target.as_deref()),
    }
}
