//! `tombolo hub audit`: the audit log of the hub.

use std::time::Duration;

use clap::Args;
use client::Client;
use protocol::audit::AuditRecord;
use serde_json::json;

use crate::{
    exit::CommandResult,
    output::{CommandOutput, or_dash, plain, table, time},
    server_args::RequestCommand,
};

/// How often `--follow` polls the hub for new entries.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// List the entries of the audit log.
#[derive(Debug, Args)]
#[command(after_help = "\
Needs the token of an administrator. The log has an entry for every change, every command to a
runtime and every refused request.

Examples:
  tombolo hub audit
  tombolo hub audit --offset 100 --limit 50
  tombolo hub audit --follow --json | jq -c .entry")]
pub(super) struct HubAuditArgs {
    /// List only entries after the one with this number
    #[arg(long, default_value_t = 0, value_name = "SEQ")]
    offset: u64,
    /// List at most this many entries
    #[arg(long, value_name = "COUNT", conflicts_with = "follow", value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: Option<u32>,
    /// Keep running and print new entries; with --json each entry is one line
    #[arg(long)]
    follow: bool,
}

impl RequestCommand for HubAuditArgs {
    async fn run(self, hub: &Client, output: CommandOutput) -> CommandResult {
        let Self { mut offset, limit, follow } = self;
        if !follow {
            return output.answer(&hub.audit().page(offset, limit).await?, |page| view(page.items));
        }
        loop {
            let page = hub.audit().page(offset, None).await?.read()?;
            for record in page.items {
                offset = record.seq;
                output.line(&if output.json {
                    json!(record).to_string()
                } else {
                    plain(&row(record).join("  "))
                })?;
            }
            if page.next_cursor.is_none() {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
    }
}

fn view(records: Vec<AuditRecord>) -> String {
    let header = ["SEQ", "RECEIVED", "USER", "ACTION", "RUNTIME", "WORKER", "METHOD", "PATH", "STATUS", "MS"];
    table(header, records.into_iter().map(row))
}

fn row(record: AuditRecord) -> [String; 10] {
    let AuditRecord { seq, entry } = record;
    [
        seq.to_string(),
        time(Some(entry.received_at)),
        or_dash(entry.user),
        entry.action,
        or_dash(entry.runtime),
        or_dash(entry.worker),
        entry.method,
        entry.path,
        or_dash(entry.status),
        entry.duration_ms.to_string(),
    ]
}
