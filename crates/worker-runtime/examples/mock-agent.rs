//! The mock agent by itself, for whoever holds sessions without the `tombolo` program.

use std::{io, process::ExitCode};

fn main() -> io::Result<ExitCode> {
    mock_agent::serve(io::stdin().lock(), io::stdout().lock()).map(ExitCode::from)
}
