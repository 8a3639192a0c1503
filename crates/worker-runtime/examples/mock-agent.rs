//! The mock agent by itself, for whoever holds sessions without the `tombolo` program.

use std::{io, process::ExitCode};

fn main() -> io::Result<ExitCode> {
    agents::mock::serve(io::stdin().lock(), io::stdout().lock()).map(ExitCode::from)
}
