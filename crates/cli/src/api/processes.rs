//! `tombolo api processes`.

mod logs;
mod terminal;
mod typing;

use std::{path::PathBuf, time::Duration};

use clap::Subcommand;
use client::Client;
use protocol::{
    ProcessId,
    processes::{Exit, Process, ProcessList, Signal, Start, State, TerminalSize},
};

use super::{
    input::{self, Variable},
    operations::{Operation, mirrors},
};
use crate::{
    exit::Outcome,
    output::{Output, card, or_dash, table, time},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the processes that were started and not deleted
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
        /// The directory it runs in, as an absolute path in the sandbox
        #[arg(long, value_name = "DIRECTORY")]
        cwd: Option<String>,
        /// A variable added to its environment; may be repeated
        #[arg(long, value_name = "NAME=VALUE")]
        env: Vec<Variable>,
        /// Give it a terminal of this size
        #[arg(long, value_name = "COLUMNSxROWS", value_parser = size)]
        terminal: Option<TerminalSize>,
        /// The program and its arguments
        #[arg(required = true, last = true, value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// Show one process
    #[command(after_help = "Examples:\n  tombolo api processes get prc_…")]
    Get {
        /// The process
        id: ProcessId,
    },
    /// End a process and everyone it started, and forget it
    #[command(after_help = "Examples:\n  tombolo api processes delete prc_…")]
    Delete {
        /// The process; it need not be there
        id: ProcessId,
    },
    /// Print what a process wrote, and with --follow what it writes next
    #[command(after_help = "\
What it wrote to its standard output goes to ours, and what it wrote to its standard error too. With
--json the page is printed as it came; with --follow each event is a line with its `data`.

Examples:
  tombolo api processes logs prc_…
  tombolo api processes logs prc_… --follow
  tombolo api processes logs prc_… --after 100 --limit 50 --json")]
    Logs {
        /// The process
        id: ProcessId,
        /// Only what came after the piece of this number
        #[arg(long, value_name = "NUMBER")]
        after: Option<u64>,
        /// How many pieces at most; everything that there is if left out
        #[arg(long, value_name = "PIECES", conflicts_with = "follow")]
        limit: Option<u32>,
        /// Wait for what comes next, until the process has ended
        #[arg(long, short)]
        follow: bool,
    },
    /// Write to the input of a process
    #[command(after_help = "\
It waits while the process does not read what it was sent before.

Examples:
  echo yes | tombolo api processes input prc_…
  tombolo api processes input prc_… answers.txt --close")]
    Input {
        /// The process
        id: ProcessId,
        /// The local file to send; `-` or nothing for standard input
        file: Option<PathBuf>,
        /// Close its input afterwards
        #[arg(long)]
        close: bool,
    },
    /// Send a signal to a process and its group
    #[command(after_help = "Examples:\n  tombolo api processes signal prc_… INT")]
    Signal {
        /// The process
        id: ProcessId,
        /// HUP, INT, QUIT, TERM, KILL, USR1, USR2, STOP or CONT
        #[arg(value_parser = signal)]
        signal: Signal,
    },
    /// Change the size of a process's terminal
    #[command(after_help = "Examples:\n  tombolo api processes resize prc_… 120x40")]
    Resize {
        /// The process
        id: ProcessId,
        /// The new size
        #[arg(value_name = "COLUMNSxROWS", value_parser = size)]
        size: TerminalSize,
    },
    /// Wait until a process has ended
    #[command(after_help = "Examples:\n  tombolo api processes wait prc_… --json | jq .exit.code")]
    Wait {
        /// The process
        id: ProcessId,
        /// How many milliseconds at most; the daemon's limit if left out
        #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
        timeout_ms: Option<u64>,
    },
    /// Be at the terminal of a process
    #[command(after_help = "\
Ctrl-] leaves; the process goes on. If standard input is no terminal, its end is typed as Ctrl-D.

Examples:
  tombolo api processes terminal prc_…")]
    Terminal {
        /// The process; it was started with a terminal
        id: ProcessId,
        /// Only what was shown after the piece of this number
        #[arg(long, value_name = "NUMBER")]
        after: Option<u64>,
    },
}

mirrors! { Verb:
    List = "list" GET "/v1/processes";
    Start = "start" POST "/v1/processes";
    Get = "get" GET "/v1/processes/{id}";
    Delete = "delete" DELETE "/v1/processes/{id}";
    Logs = "logs" GET "/v1/processes/{id}/logs";
    Input = "input" POST "/v1/processes/{id}/input";
    Signal = "signal" POST "/v1/processes/{id}/signal";
    Resize = "resize" POST "/v1/processes/{id}/resize";
    Wait = "wait" POST "/v1/processes/{id}/wait";
    Terminal = "terminal" GET "/v1/processes/{id}/terminal";
}

impl super::Verb for Verb {
    fn operation(&self) -> &'static Operation {
        self.mirrored()
    }

    async fn run(self, client: &Client, output: Output) -> Outcome {
        let processes = client.processes();
        match self {
            Verb::List => output.answer(&processes.list().await?, list),
            Verb::Start { cwd, env, terminal, command } => {
                let mut words = command.into_iter();
                let command = words.next().unwrap_or_default();
                let env = env.into_iter().map(|variable| (variable.name, variable.value)).collect();
                let start = Start { command, args: words.collect(), cwd, env, terminal };
                output.answer(&processes.start(&start).await?, |process| one(&process))
            }
            Verb::Get { id } => output.answer(&processes.get(id).await?, |process| one(&process)),
            Verb::Delete { id } => {
                processes.delete(id).await?;
                output.done(&format!("process {id} is gone"))
            }
            Verb::Logs { id, after, follow: true, .. } => logs::follow(client, id, after, output).await,
            Verb::Logs { id, after, limit, follow: false } => {
                logs::so_far(client, id, after, limit, output).await
            }
            Verb::Input { id, file, close } => {
                typing::send(client, id, input::reader(file.as_deref()).await?, close).await?;
                output.done(&format!("handed to process {id}"))
            }
            Verb::Signal { id, signal } => {
                processes.signal(id, signal).await?;
                output.done(&format!("signalled process {id}"))
            }
            Verb::Resize { id, size } => {
                processes.resize(id, size).await?;
                output.done(&format!(
                    "the terminal of {id} has {} columns and {} rows",
                    size.columns, size.rows
                ))
            }
            Verb::Wait { id, timeout_ms } => {
                let limit = timeout_ms.map(Duration::from_millis);
                output.answer(&processes.wait(id, limit).await?, |process| one(&process))
            }
            Verb::Terminal { id, after } => {
                let (shown, typed) = processes.terminal(id, after).await?;
                terminal::join(shown, typed, output).await
            }
        }
    }
}

fn list(list: ProcessList) -> String {
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

fn one(process: &Process) -> String {
    card([
        ("id", process.id.to_string()),
        ("command", line(process)),
        ("cwd", process.cwd.clone()),
        ("state", state(process)),
        ("pid", process.pid.to_string()),
        ("started", time(Some(process.started_at))),
        ("ended", time(process.exit.map(|exit| exit.at))),
        ("terminal", or_dash(process.terminal.map(|size| format!("{}x{}", size.columns, size.rows)))),
    ])
}

fn state(process: &Process) -> String {
    match (process.state, process.exit) {
        (State::Running, _) => "running".into(),
        (State::Exited, Some(Exit { code: Some(code), .. })) => format!("exited ({code})"),
        (State::Exited, Some(Exit { signal: Some(signal), .. })) => format!("exited (signal {signal})"),
        (State::Exited, _) => "exited".into(),
    }
}

fn line(process: &Process) -> String {
    [std::slice::from_ref(&process.command), &process.args].concat().join(" ")
}

/// How a process ended, for people.
fn ending(code: Option<i32>, signal: Option<i32>) -> String {
    match (code, signal) {
        (Some(code), _) => format!("the process ended with code {code}"),
        (None, Some(signal)) => format!("the process was ended by signal {signal}"),
        (None, None) => "the process ended".into(),
    }
}

/// `COLUMNSxROWS`.
fn size(text: &str) -> Result<TerminalSize, &'static str> {
    let parsed = text.split_once('x').and_then(|(columns, rows)| {
        Some(TerminalSize { columns: columns.parse().ok()?, rows: rows.parse().ok()? })
    });
    parsed.filter(|size| size.columns > 0 && size.rows > 0).ok_or("it must be COLUMNSxROWS, such as 120x40")
}

/// A signal by its name, with or without `SIG`.
fn signal(text: &str) -> Result<Signal, &'static str> {
    let name = text.to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    serde_json::from_value(name.into())
        .map_err(|_| "it must be HUP, INT, QUIT, TERM, KILL, USR1, USR2, STOP or CONT")
}
