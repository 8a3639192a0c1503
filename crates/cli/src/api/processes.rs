//! `tombolo api processes`.

mod input_upload;
mod logs;
mod run;
mod terminal;

use std::{path::PathBuf, time::Duration};

use clap::Subcommand;
use client::Client;
use protocol::{
    ProcessId,
    processes::{
        ProcessExit, ProcessSignal, ProcessState, StartProcessRequest, TerminalSize, UserProcess,
        UserProcessList,
    },
};

use super::{
    input::{self, EnvironmentVariable},
    operations::mirrors,
};
use crate::{
    duration::{self, VALUE_NAME},
    exit::CommandResult,
    output::{CommandOutput, card, or_dash, table, time},
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(crate) enum ProcessesCommand {
    /// List the processes, including those that have exited
    #[command(
        after_help = "Examples:\n  tombolo api processes list\n  tombolo api processes list --json | jq -r '.items[].id'"
    )]
    List,
    /// Start a process
    #[command(after_help = "\
Examples:
  tombolo api processes start -- make -j4
  tombolo api processes start --cwd /workspace --env PORT=8080 -- npm start
  id=$(tombolo api processes start --terminal 120x40 --json -- bash | jq -r .id)
  tombolo api processes terminal $id")]
    Start {
        /// Run it in this directory, an absolute path in the sandbox
        #[arg(long, value_name = "DIRECTORY")]
        cwd: Option<String>,
        /// Add a variable to its environment, by default with the value that it has here; may be
        /// repeated
        #[arg(long, value_name = input::VARIABLE)]
        env: Vec<EnvironmentVariable>,
        /// Give it a terminal (PTY) of this size
        #[arg(long, value_name = "COLUMNSxROWS", value_parser = parse_size)]
        terminal: Option<TerminalSize>,
        /// The program and its arguments
        #[arg(required = true, last = true, value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// Run a process to its end, and print its output
    #[command(after_help = "\
The process has no input. Its standard output goes to standard output, its standard error to
standard error, and its exit code is that of the command; 124 if its time was over.

Examples:
  tombolo api processes run -- make test
  tombolo api processes run --timeout 30s --cwd /workspace --json -- git status | jq -r .stdout")]
    Run(run::RunProcessArgs),
    /// Ask a process to terminate
    #[command(after_help = "Examples:\n  tombolo api processes stop prc_… --wait 5s")]
    Stop {
        /// The process
        id: ProcessId,
        /// Wait for its exit, at most this long (5s)
        #[arg(long, value_name = VALUE_NAME, value_parser = duration::parse_positive)]
        wait: Option<Duration>,
    },
    /// Kill a process, without giving it time to terminate
    #[command(after_help = "Examples:\n  tombolo api processes kill prc_… --wait 5s")]
    Kill {
        /// The process
        id: ProcessId,
        /// Wait for its exit, at most this long (5s)
        #[arg(long, value_name = VALUE_NAME, value_parser = duration::parse_positive)]
        wait: Option<Duration>,
    },
    /// Show one process
    #[command(after_help = "Examples:\n  tombolo api processes get prc_…")]
    Get {
        /// The process
        id: ProcessId,
    },
    /// Kill a process with all its children, and delete its record and output
    #[command(after_help = "Examples:\n  tombolo api processes delete prc_…")]
    Delete {
        /// The process; deleting one that does not exist succeeds
        id: ProcessId,
    },
    /// Print the output of a process, and with --follow also new output as it arrives
    #[command(after_help = "\
Its standard output goes to standard output, its standard error to standard error. With --json the
response page is printed unchanged; with --follow each event is one line with its `data`.

Examples:
  tombolo api processes logs prc_…
  tombolo api processes logs prc_… --follow
  tombolo api processes logs prc_… --after 100 --limit 50 --json")]
    Logs {
        /// The process
        id: ProcessId,
        /// Print only output after the entry with this number
        #[arg(long, value_name = "NUMBER")]
        after: Option<u64>,
        /// Print at most this many entries [default: all]
        #[arg(long, value_name = "COUNT", conflicts_with = "follow")]
        limit: Option<u32>,
        /// Keep printing new output until the process exits
        #[arg(long, short)]
        follow: bool,
    },
    /// Send data to the standard input of a process
    #[command(after_help = "\
The command waits while the process does not read its input.

Examples:
  echo yes | tombolo api processes input prc_…
  tombolo api processes input prc_… answers.txt --close")]
    Input {
        /// The process
        id: ProcessId,
        /// The local file to send; `-` or nothing reads standard input
        file: Option<PathBuf>,
        /// Close the input of the process afterwards
        #[arg(long)]
        close: bool,
    },
    /// Send a signal to the process group of a process
    #[command(after_help = "Examples:\n  tombolo api processes signal prc_… INT")]
    Signal {
        /// The process
        id: ProcessId,
        /// The signal: HUP, INT, QUIT, TERM, KILL, USR1, USR2, STOP or CONT
        #[arg(value_parser = parse_signal)]
        signal: ProcessSignal,
    },
    /// Resize the terminal of a process
    #[command(after_help = "Examples:\n  tombolo api processes resize prc_… 120x40")]
    Resize {
        /// The process
        id: ProcessId,
        /// The new size
        #[arg(value_name = "COLUMNSxROWS", value_parser = parse_size)]
        size: TerminalSize,
    },
    /// Wait until a process exits, and show it
    #[command(after_help = "Examples:\n  tombolo api processes wait prc_… --json | jq .exit.code")]
    Wait {
        /// The process
        id: ProcessId,
        /// Wait at most this long [default: the daemon's limit]
        #[arg(long, value_name = VALUE_NAME, value_parser = duration::parse_positive)]
        timeout: Option<Duration>,
        /// Deprecated: use --timeout, for example --timeout 30s
        #[arg(long, value_name = "MS", hide = true, value_parser = clap::value_parser!(u64).range(1..))]
        timeout_ms: Option<u64>,
    },
    /// Attach to the terminal of a process
    #[command(after_help = "\
Ctrl-] detaches and leaves the process running. If standard input is not a terminal, Ctrl-D is sent
at its end.

Examples:
  tombolo api processes terminal prc_…")]
    Terminal {
        /// The process; it must have been started with --terminal
        id: ProcessId,
        /// Show only output after the entry with this number
        #[arg(long, value_name = "NUMBER")]
        after: Option<u64>,
    },
}

mirrors! { ProcessesCommand:
    List = "list" GET "/v1/processes";
    Start = "start" POST "/v1/processes";
    Run = "run" POST "/v1/processes/run";
    Stop = "stop" POST "/v1/processes/{id}/stop";
    Kill = "kill" POST "/v1/processes/{id}/kill";
    Get = "get" GET "/v1/processes/{id}";
    Delete = "delete" DELETE "/v1/processes/{id}";
    Logs = "logs" GET "/v1/processes/{id}/logs";
    Input = "input" POST "/v1/processes/{id}/input";
    Signal = "signal" POST "/v1/processes/{id}/signal";
    Resize = "resize" POST "/v1/processes/{id}/resize";
    Wait = "wait" POST "/v1/processes/{id}/wait";
    Terminal = "terminal" GET "/v1/processes/{id}/terminal";
}

impl RequestCommand for ProcessesCommand {
    fn describe(&self) -> String {
        self.operation().to_string()
    }

    async fn run(self, client: &Client, output: CommandOutput) -> CommandResult {
        let processes = client.processes();
        match self {
            ProcessesCommand::List => output.answer(&processes.list().await?, list),
            ProcessesCommand::Start { cwd, env, terminal, command } => {
                let mut words = command.into_iter();
                let command = words.next().unwrap_or_default();
                let env = EnvironmentVariable::pairs(&env);
                let start = StartProcessRequest { command, args: words.collect(), cwd, env, terminal };
                output.answer(&processes.start(&start).await?, |process| one(&process))
            }
            ProcessesCommand::Run(args) => args.run(client, output).await,
            ProcessesCommand::Stop { id, wait } => {
                output.answer(&processes.stop(id, wait).await?, |process| one(&process))
            }
            ProcessesCommand::Kill { id, wait } => {
                output.answer(&processes.kill(id, wait).await?, |process| one(&process))
            }
            ProcessesCommand::Get { id } => output.answer(&processes.get(id).await?, |process| one(&process)),
            ProcessesCommand::Delete { id } => {
                processes.delete(id).await?;
                output.done(&format!("deleted process {id}"))
            }
            ProcessesCommand::Logs { id, after, follow: true, .. } => {
                logs::follow(client, id, after, output).await
            }
            ProcessesCommand::Logs { id, after, limit, follow: false } => {
                logs::print_page(client, id, after, limit, output).await
            }
            ProcessesCommand::Input { id, file, close } => {
                input_upload::send(client, id, input::reader(file.as_deref()).await?, close).await?;
                output.done(&format!("sent to process {id}"))
            }
            ProcessesCommand::Signal { id, signal } => {
                processes.signal(id, signal).await?;
                output.done(&format!("sent the signal to process {id}"))
            }
            ProcessesCommand::Resize { id, size } => {
                processes.resize(id, size).await?;
                output.done(&format!(
                    "resized the terminal of {id} to {} columns and {} rows",
                    size.columns, size.rows
                ))
            }
            ProcessesCommand::Wait { id, timeout, timeout_ms } => {
                let timeout = timeout_ms.map(Duration::from_millis).or(timeout);
                output.answer(&processes.wait(id, timeout).await?, |process| one(&process))
            }
            ProcessesCommand::Terminal { id, after } => {
                let (output_stream, input_stream) = processes.terminal(id, after).await?;
                terminal::attach(output_stream, input_stream, output).await
            }
        }
    }
}

fn list(list: UserProcessList) -> String {
    let rows = list.items.into_iter().map(|process| {
        [
            process.id.to_string(),
            state(&process),
            process.pid.to_string(),
            time(Some(process.started_at)),
            line(&process),
        ]
    });
    table(["ID", "STATE", "PID", "STARTED", "COMMAND"], rows)
}

fn one(process: &UserProcess) -> String {
    card([
        ("id", process.id.to_string()),
        ("command", line(process)),
        ("cwd", process.cwd.clone()),
        ("state", state(process)),
        ("pid", process.pid.to_string()),
        ("started", time(Some(process.started_at))),
        ("ended", time(process.exit.map(|exit| exit.exited_at))),
        ("terminal", or_dash(process.terminal.map(|size| format!("{}x{}", size.columns, size.rows)))),
    ])
}

fn state(process: &UserProcess) -> String {
    match (process.state, process.exit) {
        (ProcessState::Running, _) => "running".into(),
        (ProcessState::Exited, Some(ProcessExit { code: Some(code), .. })) => format!("exited ({code})"),
        (ProcessState::Exited, Some(ProcessExit { signal: Some(signal), .. })) => {
            format!("exited (signal {signal})")
        }
        (ProcessState::Exited, _) => "exited".into(),
    }
}

fn line(process: &UserProcess) -> String {
    [std::slice::from_ref(&process.command), &process.args].concat().join(" ")
}

/// Describes how a process ended.
fn describe_exit(code: Option<i32>, signal: Option<i32>) -> String {
    match (code, signal) {
        (Some(code), _) => format!("the process exited with code {code}"),
        (None, Some(signal)) => format!("the process was killed by signal {signal}"),
        (None, None) => "the process exited".into(),
    }
}

/// Parses `COLUMNSxROWS`.
fn parse_size(text: &str) -> Result<TerminalSize, &'static str> {
    let parsed = text.split_once('x').and_then(|(columns, rows)| {
        Some(TerminalSize { columns: columns.parse().ok()?, rows: rows.parse().ok()? })
    });
    parsed.filter(|size| size.columns > 0 && size.rows > 0).ok_or("write COLUMNSxROWS, for example 120x40")
}

/// Parses the name of a signal, with or without `SIG`.
fn parse_signal(text: &str) -> Result<ProcessSignal, &'static str> {
    let name = text.to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    serde_json::from_value(name.into())
        .map_err(|_| "use one of HUP, INT, QUIT, TERM, KILL, USR1, USR2, STOP or CONT")
}
