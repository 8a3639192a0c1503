//! `cargo xtask …`: all automation, in one language, the same on every machine.

mod agents;
mod api_lint;
mod audit;
mod bench;
mod checked_daemon;
mod ci;
mod codegen;
mod credentials;
mod dist;
mod fuzz;
mod generated_clients;
mod generated_section;
mod mcp_conformance;
mod npm;
mod published_build;
mod python;
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
struct XtaskArgs {
    #[command(subcommand)]
    task: XtaskCommand,
}

#[derive(Subcommand)]
enum XtaskCommand {
    /// Measure the daemon, hub and relay beside their floors and another server
    Bench(bench::BenchOptions),
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
    /// Check the OpenAPI documents with redocly and spectral
    ApiLint,
    /// Run the MCP conformance suite against the MCP endpoint of a lent device
    McpConformance,
    /// Generate clients from the OpenAPI documents and drive a daemon with them
    GeneratedClients,
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
    match XtaskArgs::parse().task {
        XtaskCommand::Bench(options) => bench::run(&options),
        XtaskCommand::Ci => ci::run(),
        XtaskCommand::Tidy => tidy::run(),
        XtaskCommand::Codegen { check } => codegen::run(check),
        XtaskCommand::Dist(options) => dist::run(&options),
        XtaskCommand::ReleaseRecord => released::write(),
        XtaskCommand::ApiLint => api_lint::run(),
        XtaskCommand::McpConformance => mcp_conformance::run(),
        XtaskCommand::GeneratedClients => generated_clients::run(),
        XtaskCommand::Schemathesis => schemathesis::run(),
        XtaskCommand::Typescript => typescript::run(),
        XtaskCommand::Audit => audit::run(),
        XtaskCommand::Fuzz { seconds, target } => fuzz::run(seconds, target.as_deref()),
    }
}
