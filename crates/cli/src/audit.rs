//! `tombolo audit`: what was asked of devices, and whether nothing was changed in that record.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::{Args, Subcommand};
use client::Client;
use protocol::relay::{
    AuditEntry,
    audit::chain::{Broken, Chained},
};
use serde_json::Value;

use crate::{
    exit::{Failure, Outcome},
    hub::{Connection, Verb as HubVerb},
    output::{Output, or_dash, table, time},
};

/// How many entries are asked for at a time.
const PAGE: u32 = 1000;

/// What was asked of devices through a hub, or of this one as its own record has it.
#[derive(Debug, Args)]
#[command(after_help = "\
A hub's record needs a token that manages the hub. A device's own is read from a file, one entry a
line, such as `tombolo device audit list --json` prints.

Examples:
  tombolo audit list --offset 100
  tombolo audit verify
  tombolo audit verify --file audit.jsonl")]
pub(crate) struct AuditOptions {
    #[command(flatten)]
    connection: Connection,
    /// Read this file and ask no hub
    #[arg(long, global = true, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Clone, Subcommand)]
enum Verb {
    /// List what was asked, the oldest first; a request has an entry when it began and one when it ended
    #[command(
        after_help = "Examples:\n  tombolo audit list --limit 50\n  tombolo audit list --json | jq .items"
    )]
    List {
        /// The number of the last entry that was seen
        #[arg(long, default_value_t = 0, value_name = "SEQ")]
        offset: u64,
        /// How many entries are shown at most
        #[arg(long, default_value_t = PAGE, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
    },
    /// Say whether nothing was changed or taken out; names the first entry that does not hold
    #[command(after_help = "Examples:\n  tombolo audit verify\n  tombolo audit verify --file audit.jsonl")]
    Verify,
}

/// Reads a file, or asks a hub.
pub(crate) fn run(options: AuditOptions) -> ExitCode {
    let AuditOptions { connection, file, verb } = options;
    match file {
        Some(file) => crate::exit::report(of_file(&file, &verb), connection.is_json(), ""),
        None => connection.ask(OfHub(verb)),
    }
}

fn of_file(file: &Path, verb: &Verb) -> Outcome {
    let entries = read(file).map_err(Failure::Local)?;
    match verb {
        Verb::List { offset, limit } => {
            let after = entries.iter().filter(|entry| entry["seq"].as_u64().unwrap_or(0) > *offset);
            let shown: Vec<_> = after.take(*limit as usize).cloned().collect();
            Output { json: false }.line(&view(&shown))
        }
        Verb::Verify => {
            let mut record = Record::default();
            record.follow(&entries)?;
            record.tell(Output { json: false })
        }
    }
}

fn read(file: &Path) -> anyhow::Result<Vec<Value>> {
    let lines =
        BufReader::new(File::open(file).with_context(|| format!("could not read `{}`", file.display()))?);
    let lines = lines.lines().filter(|line| !line.as_ref().is_ok_and(|line| line.trim().is_empty()));
    // What is no entry is told to be the one that does not hold.
    lines.map(|line| Ok(serde_json::from_str(&line?).unwrap_or(Value::Null))).collect()
}

/// Asks a hub.
struct OfHub(Verb);

impl HubVerb for OfHub {
    async fn run(self, hub: &Client, output: Output) -> Outcome {
        match self.0 {
            Verb::List { offset, limit } => {
                output.answer(&hub.relay().audit(offset, Some(limit)).await?, |page| {
                    let items: Vec<_> = page.items.iter().filter_map(|item| item.read().ok()).collect();
                    view(&items)
                })
            }
            Verb::Verify => {
                let (mut record, mut offset) = (Record::default(), 0);
                loop {
                    let page = hub.relay().audit(offset, Some(PAGE)).await?.read()?;
                    let entries: Vec<Value> =
                        page.items.iter().map(|item| item.read().unwrap_or(Value::Null)).collect();
                    record.follow(&entries)?;
                    match record.last() {
                        Some(last) if page.has_more && last > offset => offset = last,
                        _ => return record.tell(output),
                    }
                }
            }
        }
    }
}

/// A record that is looked at entry by entry.
struct Record {
    chained: Chained,
    first: Option<u64>,
    begun: std::collections::HashSet<String>,
}

impl Default for Record {
    fn default() -> Self {
        // The oldest entries may no longer be kept.
        Self { chained: Chained::anywhere(), first: None, begun: Default::default() }
    }
}

impl Record {
    fn follow(&mut self, entries: &[Value]) -> Outcome {
        for entry in entries {
            self.chained
                .follow(entry)
                .map_err(|broken: Broken| Failure::Local(anyhow::anyhow!("broken: {broken}")))?;
            self.first = self.first.or_else(|| entry["seq"].as_u64());
            let id = entry["id"].as_str().unwrap_or_default();
            match entry["status"].is_null() {
                true => drop(self.begun.insert(id.to_owned())),
                false => drop(self.begun.remove(id)),
            }
        }
        Ok(())
    }

    fn last(&self) -> Option<u64> {
        self.chained.head().map(|head| head.seq)
    }

    fn tell(&self, output: Output) -> Outcome {
        let (Some(first), Some(head)) = (self.first, self.chained.head()) else {
            return output.line("holds: it is empty");
        };
        let unfinished = match self.begun.len() {
            0 => String::new(),
            count => format!("; {count} requests began of which no end is told"),
        };
        output.line(&format!("holds: entries {first} to {}, head {}{unfinished}", head.seq, head.hash))
    }
}

fn view(entries: &[Value]) -> String {
    let rows = entries.iter().filter_map(|entry| {
        // What cannot be read is named by `verify`.
        let entry: AuditEntry = serde_json::from_value(entry.clone()).ok()?;
        let path = entry.virtual_path.as_ref().map(ToString::to_string);
        let named = |name: &str| entry.summary.get(name).and_then(Value::as_str).map(str::to_owned);
        let target = path.or_else(|| named("tool")).or_else(|| named("program"));
        let status = match (entry.status, entry.error) {
            (None, _) => "begun".into(),
            (Some(status), None) => word(&status),
            (Some(status), Some(code)) => format!("{}: {}", word(&status), code.as_str()),
        };
        Some([
            or_dash(entry.seq),
            time(Some(entry.completed_at.unwrap_or(entry.started_at))),
            entry.client_id.to_string(),
            or_dash(entry.session_id),
            entry.method,
            or_dash(target),
            word(&entry.policy_decision),
            status,
        ])
    });
    table(["SEQ", "AT", "DEVICE", "SESSION", "METHOD", "ABOUT", "DECISION", "STATUS"], rows)
}

/// A value as the wire says it.
fn word(value: &impl serde::Serialize) -> String {
    let word = serde_json::to_value(value).ok();
    word.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}
