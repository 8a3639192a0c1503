//! The mock agent as a program of its own, for tests that run sessions without `tombolo`.

use std::{io, process::ExitCode};

fn main() -> io::Result<ExitCode> {
    mock_agent::serve(io::stdin().lock(), io::stdout().lock()).map(ExitCode::from)
}
