//! `tombolo`: one program, three roles.
//!
//! Called as `sandbox-daemon` it is the daemon: `sandbox-daemon --token T --host H --port P` starts it and
//! `sandbox-daemon <resource> <verb>` speaks to one.

mod args;
mod daemon;
mod memory;

use std::process::ExitCode;

use clap::Parser;

use args::{Command, Tombolo};

fn main() -> ExitCode {
    let run = match Tombolo::parse().command {
        Command::Daemon(options) => daemon::run(&options),
        Command::MockAgent => mock_agent(),
    };
    match run {
        Ok(code) => code,
        Err(error) => {
            eprintln!("tombolo: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn mock_agent() -> anyhow::Result<ExitCode> {
    let code = agents::mock::serve(std::io::stdin().lock(), std::io::stdout().lock())?;
    Ok(ExitCode::from(code))
}
