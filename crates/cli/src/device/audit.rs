//! `tombolo device audit`: the device's own record.

use std::{collections::BTreeMap, path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use device::ledger::{Entries, Unreadable, verify};
use protocol::relay::{AuditEntry, ClientId};
use serde_json::Value;

use super::{control::about_of, owned::Owned};
use crate::{
    exit::{self, Failure, Outcome},
    output::{Output, or_dash, plain, table, time},
};

/// How many entries are shown unless more are asked for.
const SHOWN: usize = 100;

/// The device's own record.
#[derive(Debug, Args)]
#[command(after_help = "\
Every request is there, also those that were refused: what was asked, for whom, and what came of it;
no contents. Each entry holds the hash of the one before it.

Examples:
  tombolo device audit list
  tombolo device audit list --json | jq -c 'select(.policy_decision == \"blocked\")'
  tombolo device audit verify")]
pub(super) struct Audit {
    #[command(subcommand)]
    verb: Verb,
    /// The device [default: the only one of this machine]
    #[arg(long, global = true, value_name = "NAME")]
    client_id: Option<ClientId>,
    /// Where the device keeps its own files
    #[arg(long, global = true, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List what was asked, the last at the end
    #[command(after_help = "Examples:\n  tombolo device audit list --last 20")]
    List {
        /// How many requests are shown
        #[arg(long, default_value_t = SHOWN, value_name = "COUNT")]
        last: usize,
        /// Print every entry as it is in the file, for programs
        #[arg(long, conflicts_with = "last")]
        json: bool,
    },
    /// Say whether nothing was changed or taken out
    #[command(after_help = "\
It says how the record begins and ends. Whether its end was cut off can be told by the hash of the
last entry, which `tombolo device status` shows too.

Examples:
  tombolo device audit verify")]
    Verify,
}

impl Audit {
    pub(super) fn run(self) -> ExitCode {
        exit::report(self.look(), false, "")
    }

    fn look(self) -> Outcome {
        let Owned { client_id, home } = Owned::meant(self.client_id, self.data_dir.as_deref())?;
        if !home.audit().is_dir() {
            return Err(Failure::Absent(format!("the device `{client_id}` has no record")));
        }
        let entries = Entries::read(&home.audit()).map_err(unreadable)?;
        match self.verb {
            Verb::List { json: true, .. } => {
                let output = Output { json: true };
                for entry in entries {
                    output.line(&entry.map_err(unreadable)?.to_string())?;
                }
                Ok(())
            }
            Verb::List { last, json: false } => Output { json: false }.line(&list(entries, last)?),
            Verb::Verify => {
                let verified = verify(entries).map_err(unreadable)?;
                let (Some(first), Some(head)) = (verified.first, verified.head) else {
                    return Output { json: false }.line("holds: it is empty");
                };
                let unfinished = match verified.unfinished {
                    0 => String::new(),
                    count => format!("; {count} requests began of which no end is told"),
                };
                let line = format!("holds: entries {first} to {}, head {}{unfinished}", head.seq, head.hash);
                Output { json: false }.line(&line)
            }
        }
    }
}

/// The last requests, each with what came of it.
fn list(entries: Entries, last: usize) -> Result<String, Failure> {
    // The record may be far larger than what is shown of it.
    let mut requests = BTreeMap::new();
    for entry in entries {
        let entry: Value = entry.map_err(unreadable)?;
        // What cannot be read is named by `verify`.
        let Ok(entry) = serde_json::from_value::<AuditEntry>(entry) else { continue };
        requests.insert((entry.started_at, entry.id.clone()), entry);
        if requests.len() > last {
            requests.pop_first();
        }
    }
    let rows = requests.into_values().map(|entry| {
        let about = entry.virtual_path.as_ref().map(ToString::to_string).or_else(|| about_of(&entry.summary));
        let status = match (entry.status, entry.error) {
            (None, _) => "not ended".to_owned(),
            (Some(status), None) => word(&status),
            (Some(status), Some(code)) => format!("{}: {}", word(&status), code.as_str()),
        };
        let took =
            entry.completed_at.map(|end| format!("{} ms", end.duration_since(entry.started_at).as_millis()));
        [
            or_dash(entry.seq),
            time(Some(entry.started_at)),
            or_dash(entry.session_id),
            entry.method,
            or_dash(about),
            word(&entry.policy_decision),
            status,
            or_dash(took),
        ]
    });
    Ok(table(["SEQ", "AT", "SESSION", "METHOD", "ABOUT", "DECISION", "STATUS", "TOOK"], rows))
}

/// A value as the wire says it.
fn word(value: &impl serde::Serialize) -> String {
    let word = serde_json::to_value(value).ok();
    plain(word.as_ref().and_then(Value::as_str).unwrap_or_default())
}

fn unreadable(error: Unreadable) -> Failure {
    match error {
        Unreadable::Broken(_) => Failure::Broken(error.to_string()),
        Unreadable::File { path, source } => exit::local(&format!("read `{}`", path.display()), source),
    }
}
