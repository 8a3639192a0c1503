//! The agent behind every server that `cargo xtask bench` measures; and what keeps the cores awake meanwhile.

use std::{io, process::ExitCode};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let done = match (args.next().as_deref(), args.next()) {
        (Some("spin"), Some(core)) => core.parse().map_err(io::Error::other).and_then(bench::spin),
        // Servers may add arguments of their own.
        _ => bench::stub::serve(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever spoke to it has gone.
        Err(_) => ExitCode::FAILURE,
    }
}
