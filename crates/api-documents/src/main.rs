//! Prints the API documents that `cargo xtask codegen` stores in `docs`.
//!
//! A program of its own, so that `tombolo` need not contain the code that describes its API.

use std::io::{self, Write};

use clap::{Parser, ValueEnum};
use serde_json::Value;

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ApiDocument {
    /// The OpenAPI document of the daemon
    Daemon,
    /// The OpenAPI document of the hub
    Hub,
    /// The JSON Schema of relay messages
    Relay,
}

#[derive(Debug, Parser)]
struct Options {
    #[arg(value_enum)]
    document: ApiDocument,
}

fn main() -> io::Result<()> {
    let document = match Options::parse().document {
        ApiDocument::Daemon => daemon::generate_openapi(),
        ApiDocument::Hub => hub::generate_openapi(),
        ApiDocument::Relay => Value::Object(protocol::relay::schemas()),
    };
    writeln!(io::stdout(), "{document:#}")
}
