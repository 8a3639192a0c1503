//! `tombolo device status|pause|resume|forget|stop`: what the owner says to a device that runs here.

use std::{io, path::PathBuf, process::ExitCode, time::Duration};

use clap::Args;
use device::ask;
use protocol::{
    device::{Command, Connection, Lending, Status},
    relay::{ClientId, Mode},
};
use serde_json::json;
use tokio::{io::AsyncReadExt, net::UnixStream, time::timeout};

use super::owned::Owned;
use crate::{
    exit::{self, Failure, Outcome},
    output::{Output, card, or_dash, plain, table, time},
};

/// How long a device may take to end everything: longer than commands have from TERM to KILL.
const STOP_WAIT_MAX: Duration = Duration::from_secs(20);

/// Which device is meant.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// The device [default: the only one of this machine]
    #[arg(long, value_name = "NAME")]
    client_id: Option<ClientId>,
    /// Where the device keeps its own files
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// Print what the device says as it came, for programs
    #[arg(long)]
    json: bool,
}

/// Why it is paused.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tombolo device pause\n  tombolo device pause 'back in an hour'")]
pub(super) struct Pause {
    /// Why, for those who use it
    reason: Option<String>,
    #[command(flatten)]
    which: Which,
}

impl Pause {
    pub(super) fn run(self) -> ExitCode {
        self.which.run(&Command::Pause { reason: self.reason })
    }
}

impl Which {
    pub(super) fn run(self, command: &Command) -> ExitCode {
        let output = Output { json: self.json };
        let outcome = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Failure::from)
            .and_then(|runtime| runtime.block_on(self.say(command, output)));
        exit::report(outcome, output.json, "")
    }

    async fn say(self, command: &Command, output: Output) -> Outcome {
        let Owned { client_id, home } = Owned::meant(self.client_id, self.data_dir.as_deref())?;
        let (status, connection) =
            ask(&home.socket(), command).await.map_err(|error| not_there(&client_id, error))?;
        match command {
            Command::Status if output.json => output.line(&json!(status).to_string()),
            Command::Status => output.line(&view(&status)),
            Command::Pause { .. } => output.done(&format!("paused {client_id}: what runs goes on")),
            Command::Resume => match status.lending {
                Lending::Stopped => Err(Failure::Usage(format!("{client_id} is about to end"))),
                _ => output.done(&format!("resumed {client_id}")),
            },
            Command::Forget => {
                output.done(&format!("{client_id} has forgotten what you agreed to: you are asked again"))
            }
            Command::Stop => {
                gone(connection).await?;
                output.done(&format!("stopped {client_id}"))
            }
        }
    }
}

/// Returns when the device has ended, and everything with it.
async fn gone(mut connection: UnixStream) -> Outcome {
    match timeout(STOP_WAIT_MAX, connection.read_to_end(&mut Vec::new())).await {
        Ok(_) => Ok(()),
        Err(_) => {
            let why = format!("it has not ended for {} s; it begins nothing new", STOP_WAIT_MAX.as_secs());
            Err(Failure::Local(anyhow::anyhow!(why)))
        }
    }
}

fn not_there(client_id: &ClientId, error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            Failure::Absent(format!("the device `{client_id}` does not run here"))
        }
        _ => exit::local(&format!("speak to the device `{client_id}`"), error),
    }
}

/// Everything about a device, for people.
pub(super) fn view(status: &Status) -> String {
    let lending = match &status.lending {
        Lending::Active => "active".to_owned(),
        Lending::Paused { reason: None } => "paused".into(),
        Lending::Paused { reason: Some(reason) } => format!("paused: {reason}"),
        Lending::Stopped => "stopped".into(),
    };
    let none = || "-".to_owned();
    let (connection, accepted, latency) = match &status.connection {
        Connection::Calling => ("calling".to_owned(), none(), none()),
        Connection::Away { reason } => (format!("away: {reason}"), none(), none()),
        Connection::Connected {
            connection_id,
            since,
            accepted_capabilities,
            accepted_roots,
            latency_ms,
            ..
        } => {
            let families = accepted_capabilities.iter().map(|family| family.as_str().to_owned());
            let roots = accepted_roots.iter().map(|root| format!("{} {}", root.root_id, mode(root.mode)));
            let accepted: Vec<_> = families.chain(roots).collect();
            let accepted = if accepted.is_empty() { "nothing".into() } else { accepted.join(", ") };
            let connected = format!("connected as {connection_id} since {}", time(Some(since)));
            (connected, accepted, or_dash(latency_ms.map(|ms| format!("{ms:.1} ms"))))
        }
    };
    let audit = status
        .audit
        .as_ref()
        .map(|audit| format!("{} entries, head {}, {}", audit.seq, or_dash(audit.hash.as_ref()), audit.file));
    let mut parts = vec![card([
        ("device", named(status)),
        ("state", lending),
        ("hub", status.hub.clone()),
        ("connection", connection),
        ("accepted", accepted),
        ("latency", latency),
        ("lent", lent(status)),
        (
            "running",
            format!(
                "since {}, process {}, version {}",
                time(Some(status.started_at)),
                status.pid,
                status.version
            ),
        ),
        ("audit", or_dash(audit)),
    ])];
    if !status.running.is_empty() {
        let rows = status.running.iter().map(|running| {
            let about = running.virtual_path.as_ref().map(ToString::to_string);
            let about = about.or_else(|| about_of(&running.summary));
            [
                running.method.clone(),
                or_dash(about),
                or_dash(running.session_id.clone()),
                time(Some(running.started_at)),
            ]
        });
        parts.push(table(["RUNNING", "ABOUT", "SESSION", "SINCE"], rows));
    }
    if !status.sessions.is_empty() {
        let rows = status.sessions.iter().map(|session| {
            [or_dash(session.session_id.clone()), session.requests.to_string(), time(Some(session.last_at))]
        });
        parts.push(table(["USED BY", "REQUESTS", "LAST"], rows));
    }
    if !status.last_errors.is_empty() {
        let rows = status.last_errors.iter().map(|error| {
            [time(Some(error.at)), error.method.clone(), error.code.as_str().into(), error.message.clone()]
        });
        parts.push(table(["ERROR AT", "METHOD", "CODE", "MESSAGE"], rows));
    }
    parts.join("\n\n")
}

/// What is lent, in a few words.
pub(super) fn lent(status: &Status) -> String {
    let roots = status.lent.roots.iter().map(|root| format!("{} {}", root.root_id, mode(root.mode)));
    let shell = status.lent.shell.iter().map(|runtime| format!("shell ({runtime})"));
    let tools = status.lent.tool_count.iter().map(|count| format!("{count} tools"));
    let lent: Vec<_> = roots.chain(shell).chain(tools).collect();
    if lent.is_empty() { "nothing".into() } else { plain(&lent.join(", ")) }
}

/// What a request is about, in a word.
pub(super) fn about_of(summary: &serde_json::Map<String, serde_json::Value>) -> Option<String> {
    ["program", "tool", "command_id"].iter().find_map(|name| Some(summary.get(*name)?.as_str()?.to_owned()))
}

fn named(status: &Status) -> String {
    match &status.label {
        Some(label) => format!("{} ({label})", status.client_id),
        None => status.client_id.to_string(),
    }
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Ro => "ro",
        Mode::Rw => "rw",
    }
}
