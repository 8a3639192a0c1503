//! The stub agent behind every server that `cargo xtask bench` measures. With `spin CORE` as arguments it is a
//! spinner, which keeps that core awake during a measurement.

use std::{io, process::ExitCode};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let done = match (args.next().as_deref(), args.next()) {
        (Some("spin"), Some(core)) => core.parse().map_err(io::Error::other).and_then(bench::spin),
        // A server may pass any arguments to its agent, so the stub ignores them.
        _ => bench::stub_agent::serve(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The server closed the pipe. Servers do this whenever they stop an agent, so the stub prints nothing.
        Err(_) => ExitCode::FAILURE,
    }
}
