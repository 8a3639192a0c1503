//! `tombolo device status|pause|resume|forget|stop`: send a command to the device that runs on this machine.

use std::{io, path::PathBuf, process::ExitCode, time::Duration};

use clap::Args;
use device::ask;
use protocol::{
    device::{DeviceControlCommand, HubConnectionState, LendingState, LocalDeviceStatus},
    relay::{ClientId, RootMode, audit::RequestSummary},
};
use serde_json::json;
use tokio::{io::AsyncReadExt, net::UnixStream, time::timeout};

use super::local_device::LocalDevice;
use crate::{
    exit::{self, CommandError, CommandResult},
    output::{CommandOutput, card, or_dash, plain, table, time},
};

/// How long `stop` waits for the device. Longer than the grace period between SIGTERM and SIGKILL of its commands.
const STOP_WAIT_MAX: Duration = Duration::from_secs(20);

/// Options that select a device of this machine.
#[derive(Debug, Args)]
pub(super) struct DeviceSelector {
    /// The device's name [default: the only device on this machine]
    #[arg(long, value_name = "NAME")]
    client_id: Option<ClientId>,
    /// Directory for the device's own files
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// Print the device's status as JSON
    #[arg(long)]
    json: bool,
}

/// Reject new requests until `resume`; running ones continue
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tombolo device pause\n  tombolo device pause 'back in an hour'")]
pub(super) struct PauseOptions {
    /// Reason to show to the users of the device
    reason: Option<String>,
    #[command(flatten)]
    selector: DeviceSelector,
}

impl PauseOptions {
    pub(super) fn run(self) -> ExitCode {
        self.selector.run(&DeviceControlCommand::Pause { reason: self.reason })
    }
}

impl DeviceSelector {
    pub(super) fn run(self, command: &DeviceControlCommand) -> ExitCode {
        let output = CommandOutput { json: self.json };
        let outcome = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(CommandError::from)
            .and_then(|runtime| runtime.block_on(self.send(command, output)));
        exit::report(outcome, output.json, "")
    }

    async fn send(self, command: &DeviceControlCommand, output: CommandOutput) -> CommandResult {
        let LocalDevice { client_id, home } = LocalDevice::select(self.client_id, self.data_dir.as_deref())?;
        let (status, connection) =
            ask(&home.socket(), command).await.map_err(|error| not_running(&client_id, error))?;
        match command {
            DeviceControlCommand::Status if output.json => output.line(&json!(status).to_string()),
            DeviceControlCommand::Status => output.line(&status_view(&status)),
            DeviceControlCommand::Pause { .. } => {
                output.done(&format!("paused {client_id}; running requests continue"))
            }
            DeviceControlCommand::Resume => match status.lending {
                LendingState::Stopped => Err(CommandError::Usage(format!(
                    "device {client_id} is stopping; start it again with `tombolo device connect`"
                ))),
                _ => output.done(&format!("resumed {client_id}")),
            },
            DeviceControlCommand::Forget => {
                output.done(&format!("forgot all remembered approvals of {client_id}; you are asked again"))
            }
            DeviceControlCommand::Stop => {
                wait_until_ended(connection).await?;
                output.done(&format!("stopped {client_id}"))
            }
        }
    }
}

/// Waits until the device has stopped everything. It closes its control socket last, so the end of the connection is the sign.
async fn wait_until_ended(mut connection: UnixStream) -> CommandResult {
    match timeout(STOP_WAIT_MAX, connection.read_to_end(&mut Vec::new())).await {
        Ok(_) => Ok(()),
        Err(_) => {
            let why = format!(
                "the device is still stopping after {} s; it rejects new requests, see `tombolo device status`",
                STOP_WAIT_MAX.as_secs()
            );
            Err(CommandError::Local(anyhow::anyhow!(why)))
        }
    }
}

fn not_running(client_id: &ClientId, error: io::Error) -> CommandError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => CommandError::Absent(format!(
            "device `{client_id}` is not running on this machine; start it with `tombolo device connect`"
        )),
        _ => exit::local(&format!("connect to the device `{client_id}`"), error),
    }
}

/// The whole status, as tables.
pub(super) fn status_view(status: &LocalDeviceStatus) -> String {
    let lending = match &status.lending {
        LendingState::Active => "active".to_owned(),
        LendingState::Paused { reason: None } => "paused".into(),
        LendingState::Paused { reason: Some(reason) } => format!("paused: {reason}"),
        LendingState::Stopped => "stopped".into(),
    };
    let none = || "-".to_owned();
    let (connection, accepted, latency) = match &status.connection {
        HubConnectionState::Calling => ("connecting".to_owned(), none(), none()),
        HubConnectionState::Away { reason } => (format!("disconnected: {reason}"), none(), none()),
        HubConnectionState::Connected {
            connection_id,
            since,
            accepted_capabilities,
            accepted_roots,
            latency_ms,
            ..
        } => {
            let families = accepted_capabilities.iter().map(|family| family.as_str().to_owned());
            let roots =
                accepted_roots.iter().map(|root| format!("{} {}", root.root_id, mode_name(root.mode)));
            let accepted: Vec<_> = families.chain(roots).collect();
            let accepted = if accepted.is_empty() { "nothing".into() } else { accepted.join(", ") };
            let connected = format!("connected as {connection_id} since {}", time(Some(since)));
            (connected, accepted, or_dash(latency_ms.map(|ms| format!("{ms:.1} ms"))))
        }
    };
    let audit = status.audit.as_ref().map(|audit| {
        format!("{} entries, last hash {}, {}", audit.seq, or_dash(audit.hash.as_ref()), audit.file)
    });
    let mut parts = vec![card([
        ("device", display_name(status)),
        ("state", lending),
        ("hub", status.hub.clone()),
        ("connection", connection),
        ("accepted", accepted),
        ("latency", latency),
        ("lent", lent_summary(status)),
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
            let subject = running.virtual_path.as_ref().map(ToString::to_string);
            let subject = subject.or_else(|| RequestSummary::subject(&running.summary));
            [
                running.method.clone(),
                or_dash(subject),
                or_dash(running.session_id.clone()),
                time(Some(running.started_at)),
            ]
        });
        parts.push(table(["RUNNING", "ABOUT", "SESSION", "SINCE"], rows));
    }
    if !status.sessions.is_empty() {
        let rows = status.sessions.iter().map(|session| {
            [
                or_dash(session.session_id.clone()),
                session.requests.to_string(),
                time(Some(session.last_request_at)),
            ]
        });
        parts.push(table(["USED BY", "REQUESTS", "LAST"], rows));
    }
    if !status.last_errors.is_empty() {
        let rows = status.last_errors.iter().map(|error| {
            [
                time(Some(error.failed_at)),
                error.method.clone(),
                error.code.as_str().into(),
                error.message.clone(),
            ]
        });
        parts.push(table(["ERROR AT", "METHOD", "CODE", "MESSAGE"], rows));
    }
    parts.join("\n\n")
}

/// A one-line summary of what the device lends.
pub(super) fn lent_summary(status: &LocalDeviceStatus) -> String {
    let roots = status.lent.roots.iter().map(|root| format!("{} {}", root.root_id, mode_name(root.mode)));
    let shell = status.lent.shell.iter().map(|runtime| format!("shell ({runtime})"));
    let tools = status.lent.tool_count.iter().map(|count| format!("{count} tools"));
    let lent: Vec<_> = roots.chain(shell).chain(tools).collect();
    if lent.is_empty() { "nothing".into() } else { plain(&lent.join(", ")) }
}

fn display_name(status: &LocalDeviceStatus) -> String {
    match &status.label {
        Some(label) => format!("{} ({label})", status.client_id),
        None => status.client_id.to_string(),
    }
}

fn mode_name(mode: RootMode) -> &'static str {
    match mode {
        RootMode::Ro => "ro",
        RootMode::Rw => "rw",
    }
}
