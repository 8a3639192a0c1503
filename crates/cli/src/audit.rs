//! `tombolo audit`: lists and verifies the audit log of device requests, of a hub or in a file.

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
    RelayAuditEntry,
    audit::{
        RequestSummary,
        chain::{BrokenChain, ChainVerifier},
    },
};
use serde_json::Value;

use crate::{
    exit::{CommandError, CommandResult},
    output::{CommandOutput, or_dash, table, time},
    server_args::{HubUrl, RequestArgs, RequestCommand},
};

/// Entries per request.
const PAGE_ENTRIES: u32 = 1000;

/// List or verify the audit log of device requests.
#[derive(Debug, Args)]
#[command(after_help = "\
Reading the log of a hub needs the token of an administrator. To check the log of a device, save the
output of `tombolo device audit list --json` and pass it with --file.

Examples:
  tombolo audit list --offset 100
  tombolo audit verify
  tombolo audit verify --file audit.jsonl")]
pub(crate) struct AuditOptions {
    #[command(flatten)]
    request: RequestArgs<HubUrl>,
    /// Read the log from this file, one JSON entry per line, instead of from a hub
    #[arg(long, global = true, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, Clone, Subcommand)]
enum AuditCommand {
    /// List the entries, oldest first; a request has one entry when it begins and one when it ends
    #[command(
        after_help = "Examples:\n  tombolo audit list --limit 50\n  tombolo audit list --json | jq .items"
    )]
    List {
        /// List only entries after the one with this number
        #[arg(long, default_value_t = 0, value_name = "SEQ")]
        offset: u64,
        /// List at most this many entries
        #[arg(long, default_value_t = PAGE_ENTRIES, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
    },
    /// Check the hash chain of the log; reports the first entry that was changed, removed or inserted
    #[command(after_help = "Examples:\n  tombolo audit verify\n  tombolo audit verify --file audit.jsonl")]
    Verify,
}

/// Runs `tombolo audit`.
pub(crate) fn run(options: AuditOptions) -> ExitCode {
    let AuditOptions { request, file, command } = options;
    match file {
        Some(file) => crate::exit::report(run_on_file(&file, &command), request.output().json, ""),
        None => request.run(command),
    }
}

fn run_on_file(file: &Path, command: &AuditCommand) -> CommandResult {
    let entries = read_entries(file).map_err(CommandError::Local)?;
    match command {
        AuditCommand::List { offset, limit } => {
            let after = entries.iter().filter(|entry| entry["seq"].as_u64().unwrap_or(0) > *offset);
            let shown: Vec<_> = after.take(*limit as usize).cloned().collect();
            CommandOutput { json: false }.line(&view(&shown))
        }
        AuditCommand::Verify => {
            let mut verification = ChainVerification::default();
            verification.check(&entries)?;
            verification.report(CommandOutput { json: false })
        }
    }
}

fn read_entries(file: &Path) -> anyhow::Result<Vec<Value>> {
    let lines =
        BufReader::new(File::open(file).with_context(|| format!("could not read `{}`", file.display()))?);
    let lines = lines.lines().filter(|line| !line.as_ref().is_ok_and(|line| line.trim().is_empty()));
    // A line that is not JSON becomes `null`, which the verification then reports as the broken entry.
    lines.map(|line| Ok(serde_json::from_str(&line?).unwrap_or(Value::Null))).collect()
}

impl RequestCommand for AuditCommand {
    async fn run(self, hub: &Client, output: CommandOutput) -> CommandResult {
        match self {
            AuditCommand::List { offset, limit } => {
                output.answer(&hub.relay().audit(offset, Some(limit)).await?, |page| {
                    let items: Vec<_> = page.items.iter().filter_map(|item| item.read().ok()).collect();
                    view(&items)
                })
            }
            AuditCommand::Verify => {
                let mut verification = ChainVerification::default();
                let mut offset = 0;
                loop {
                    let page = hub.relay().audit(offset, Some(PAGE_ENTRIES)).await?.read()?;
                    let entries: Vec<Value> =
                        page.items.iter().map(|item| item.read().unwrap_or(Value::Null)).collect();
                    verification.check(&entries)?;
                    match verification.last() {
                        Some(last) if page.next_cursor.is_some() && last > offset => offset = last,
                        _ => return verification.report(output),
                    }
                }
            }
        }
    }
}

/// A verification of the hash chain, entry by entry.
struct ChainVerification {
    chain: ChainVerifier,
    first: Option<u64>,
    /// The ids of requests that began and have not ended.
    unfinished: std::collections::HashSet<String>,
}

impl Default for ChainVerification {
    fn default() -> Self {
        // The chain may start anywhere: the oldest entries are deleted after their retention period.
        Self { chain: ChainVerifier::from_any_position(), first: None, unfinished: Default::default() }
    }
}

impl ChainVerification {
    fn check(&mut self, entries: &[Value]) -> CommandResult {
        for entry in entries {
            self.chain.verify_next(entry).map_err(|broken: BrokenChain| {
                CommandError::Local(anyhow::anyhow!(
                    "the audit log was tampered with or is damaged: {broken}"
                ))
            })?;
            self.first = self.first.or_else(|| entry["seq"].as_u64());
            let id = entry["id"].as_str().unwrap_or_default();
            if entry["status"].is_null() {
                self.unfinished.insert(id.to_owned());
            } else {
                self.unfinished.remove(id);
            }
        }
        Ok(())
    }

    fn last(&self) -> Option<u64> {
        self.chain.head().map(|head| head.seq)
    }

    fn report(&self, output: CommandOutput) -> CommandResult {
        let (Some(first), Some(head)) = (self.first, self.chain.head()) else {
            return output.line("intact: the log is empty");
        };
        let unfinished = match self.unfinished.len() {
            0 => String::new(),
            count => format!("; {count} requests have no recorded end"),
        };
        output.line(&format!("intact: entries {first} to {}, last hash {}{unfinished}", head.seq, head.hash))
    }
}

fn view(entries: &[Value]) -> String {
    let rows = entries.iter().filter_map(|entry| {
        // `verify` reports entries that cannot be parsed.
        let entry: RelayAuditEntry = serde_json::from_value(entry.clone()).ok()?;
        let path = entry.virtual_path.as_ref().map(ToString::to_string);
        let target = path.or_else(|| RequestSummary::subject(&entry.summary));
        let status = match (entry.status, entry.error) {
            (None, _) => "started".into(),
            (Some(status), None) => wire_name(&status),
            (Some(status), Some(code)) => format!("{}: {}", wire_name(&status), code.as_str()),
        };
        Some([
            or_dash(entry.seq),
            time(Some(entry.completed_at.unwrap_or(entry.started_at))),
            entry.client_id.to_string(),
            or_dash(entry.session_id),
            entry.method,
            or_dash(target),
            wire_name(&entry.policy_decision),
            status,
        ])
    });
    table(["SEQ", "AT", "DEVICE", "SESSION", "METHOD", "TARGET", "DECISION", "STATUS"], rows)
}

/// The spelling of an enum value on the wire.
fn wire_name(value: &impl serde::Serialize) -> String {
    let json = serde_json::to_value(value).ok();
    json.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}
