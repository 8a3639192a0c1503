//! `tombolo api processes run`.

use std::{
    io::{self, Write},
    time::Duration,
};

use clap::Args;
use client::Client;
use protocol::processes::RunProcessRequest;

use crate::{
    api::input::{self, EnvironmentVariable},
    duration::{self, VALUE_NAME},
    exit::{CommandError, CommandResult},
    output::CommandOutput,
};

/// A program to run.
#[derive(Debug, Args)]
pub(crate) struct RunProcessArgs {
    /// Run it in this directory, an absolute path in the sandbox
    #[arg(long, value_name = "DIRECTORY")]
    cwd: Option<String>,
    /// Add a variable to its environment, by default with the value that it has here; may be
    /// repeated
    #[arg(long, value_name = input::VARIABLE)]
    env: Vec<EnvironmentVariable>,
    /// Kill it after this time (30s) [default: the limit of the daemon]
    #[arg(long, value_name = VALUE_NAME, value_parser = duration::parse_positive)]
    timeout: Option<Duration>,
    /// Return at most this much of each output stream [default: 1 MiB]
    #[arg(long, value_name = "BYTES")]
    max_output_bytes: Option<usize>,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl RunProcessArgs {
    pub(super) async fn run(self, client: &Client, output: CommandOutput) -> CommandResult {
        let Self { cwd, env, timeout, max_output_bytes, command } = self;
        let mut words = command.into_iter();
        let request = RunProcessRequest {
            command: words.next().unwrap_or_default(),
            args: words.collect(),
            cwd,
            env: EnvironmentVariable::pairs(&env),
            timeout_ms: timeout.map(duration::milliseconds),
            max_output_bytes,
        };
        let answer = client.processes().run(&request).await?;
        if output.json {
            return output.bytes(answer.body());
        }
        let result = answer.read()?;
        output.bytes(result.stdout.as_bytes())?;
        io::stderr().lock().write_all(result.stderr.as_bytes())?;
        for (stream, is_truncated) in
            [("output", result.stdout_truncated), ("error", result.stderr_truncated)]
        {
            if is_truncated {
                output.print_note(&format!("[the end of its standard {stream} is missing]"));
            }
        }
        let (status, how) = match (result.timed_out, result.exit_code, result.signal) {
            (true, _, _) => (TIMED_OUT, "the process was killed: its time was over".into()),
            (false, Some(0), _) => return Ok(()),
            (false, code, signal) => {
                let status = code.unwrap_or_else(|| SIGNALLED + signal.unwrap_or_default());
                (status, super::describe_exit(code, signal))
            }
        };
        Err(CommandError::ProcessFailed { status: u8::try_from(status).unwrap_or(u8::MAX), how })
    }
}

/// The exit code of `timeout` (coreutils) for a command whose time was over.
const TIMED_OUT: i32 = 124;

/// A shell adds the signal that ended a command to this.
const SIGNALLED: i32 = 128;
