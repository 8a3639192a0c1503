//! `tombolo device audit`: read and verify the device's own audit log.

use std::{collections::BTreeMap, path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use device::ledger::{Entries, Unreadable, verify};
use protocol::relay::{ClientId, RelayAuditEntry, audit::RequestSummary};
use serde_json::Value;

use super::local_device::LocalDevice;
use crate::{
    exit::{self, CommandError, CommandResult},
    output::{CommandOutput, or_dash, plain, table, time},
};

/// How many requests `list` shows by default.
const LAST_DEFAULT: usize = 100;

/// List and verify the requests that this device received
#[derive(Debug, Args)]
#[command(after_help = "\
The log contains every request, including rejected ones: the method, the session and the outcome,
but no contents. Entries form a hash chain, so changes to the log are detected.

Examples:
  tombolo device audit list
  tombolo device audit list --json | jq -c 'select(.policy_decision == \"blocked\")'
  tombolo device audit verify")]
pub(super) struct DeviceAuditOptions {
    #[command(subcommand)]
    command: DeviceAuditCommand,
    /// The device's name [default: the only device on this machine]
    #[arg(long, global = true, value_name = "NAME")]
    client_id: Option<ClientId>,
    /// Directory for the device's own files
    #[arg(long, global = true, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum DeviceAuditCommand {
    /// List the requests, newest last
    #[command(after_help = "Examples:\n  tombolo device audit list --last 20")]
    List {
        /// How many requests to show
        #[arg(long, default_value_t = LAST_DEFAULT, value_name = "COUNT")]
        last: usize,
        /// Print every entry as one line of JSON
        #[arg(long, conflicts_with = "last")]
        json: bool,
    },
    /// Check that no entry was changed or removed
    #[command(after_help = "\
Prints the first and last entry of the log. To detect that entries were cut off at its end, compare
the last hash with the one that `tombolo device status` shows.

Examples:
  tombolo device audit verify")]
    Verify,
}

impl DeviceAuditOptions {
    pub(super) fn run(self) -> ExitCode {
        exit::report(self.execute(), false, "")
    }

    fn execute(self) -> CommandResult {
        let LocalDevice { client_id, home } = LocalDevice::select(self.client_id, self.data_dir.as_deref())?;
        if !home.audit().is_dir() {
            return Err(CommandError::Absent(format!(
                "device `{client_id}` has no audit log; it is created by `tombolo device connect`"
            )));
        }
        let entries = Entries::read(&home.audit()).map_err(read_failure)?;
        match self.command {
            DeviceAuditCommand::List { json: true, .. } => {
                let output = CommandOutput { json: true };
                for entry in entries {
                    output.line(&entry.map_err(read_failure)?.to_string())?;
                }
                Ok(())
            }
            DeviceAuditCommand::List { last, json: false } => {
                CommandOutput { json: false }.line(&request_table(entries, last)?)
            }
            DeviceAuditCommand::Verify => {
                let verified = verify(entries).map_err(read_failure)?;
                let (Some(first), Some(head)) = (verified.first, verified.head) else {
                    return CommandOutput { json: false }.line("intact: the log is empty");
                };
                let unfinished = match verified.unfinished {
                    0 => String::new(),
                    count => format!("; {count} requests have no recorded end"),
                };
                let line =
                    format!("intact: entries {first} to {}, last hash {}{unfinished}", head.seq, head.hash);
                CommandOutput { json: false }.line(&line)
            }
        }
    }
}

/// The newest `last` requests with their outcomes. A request has one entry when it starts and another when it ends; the
/// later one replaces the earlier. Only `last` requests are held in memory, because the log may be far larger.
fn request_table(entries: Entries, last: usize) -> Result<String, CommandError> {
    let mut requests = BTreeMap::new();
    for entry in entries {
        let entry: Value = entry.map_err(read_failure)?;
        // Skip unreadable entries here; `verify` reports them.
        let Ok(entry) = serde_json::from_value::<RelayAuditEntry>(entry) else { continue };
        requests.insert((entry.started_at, entry.id.clone()), entry);
        if requests.len() > last {
            requests.pop_first();
        }
    }
    let rows = requests.into_values().map(|entry| {
        let subject = entry
            .virtual_path
            .as_ref()
            .map(ToString::to_string)
            .or_else(|| RequestSummary::subject(&entry.summary));
        let status = match (entry.status, entry.error) {
            (None, _) => "no recorded end".to_owned(),
            (Some(status), None) => wire_name(&status),
            (Some(status), Some(code)) => format!("{}: {}", wire_name(&status), code.as_str()),
        };
        let took =
            entry.completed_at.map(|end| format!("{} ms", end.duration_since(entry.started_at).as_millis()));
        [
            or_dash(entry.seq),
            time(Some(entry.started_at)),
            or_dash(entry.session_id),
            entry.method,
            or_dash(subject),
            wire_name(&entry.policy_decision),
            status,
            or_dash(took),
        ]
    });
    Ok(table(["SEQ", "AT", "SESSION", "METHOD", "ABOUT", "DECISION", "STATUS", "TOOK"], rows))
}

/// An enum value as it is spelled on the wire.
fn wire_name(value: &impl serde::Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    plain(name.as_ref().and_then(Value::as_str).unwrap_or_default())
}

fn read_failure(error: Unreadable) -> CommandError {
    match error {
        Unreadable::Broken(_) => CommandError::Broken(error.to_string()),
        Unreadable::File { path, source } => exit::local(&format!("read `{}`", path.display()), source),
    }
}
