//! `cargo xtask …`: all automation, in one language, the same on every machine.

mod agents;
mod audit;
mod bench;
mod ci;
mod codegen;
mod dist;
mod fuzz;
mod schemathesis;
mod sessions;
mod sh;
#[cfg(test)]
mod spec_ids;
mod system;
mod tidy;
mod typescript;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Checks, generates and measures.")]
struct Xtask {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Measure the daemon against its floors and another server
    Bench(bench::Options),
    /// Run every check that a change must pass
    Ci,
    /// Check what the compiler does not: file sizes, words, lints
    Tidy,
    /// Write what is generated from the code: API documents, TypeScript types, the CLI reference and tables of agents
    Codegen {
        /// Change nothing; fail if something is out of date
        #[arg(long)]
        check: bool,
    },
    /// Build what is published: the npm packages, and the program in one of them
    Dist(dist::Options),
    /// Drive a running daemon by its own OpenAPI document
    Schemathesis,
    /// Build, lint, test and weigh the TypeScript packages
    Typescript,
    /// Check licences, sources and known faults of all dependencies (needs cargo-deny)
    Audit,
    /// Run the fuzz targets, each for a bounded time
    Fuzz {
        /// How long each target runs
        #[arg(long, default_value_t = 30)]
        seconds: u32,
        /// Only this target
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
        Task::Schemathesis => schemathesis::run(),
        Task::Typescript => typescript::run(),
        Task::Audit => audit::run(),
        Task::Fuzz { seconds, target } => fuzz::run(seconds, target.as_deref()),
    }
}
