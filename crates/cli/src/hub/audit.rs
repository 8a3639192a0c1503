//! `tombolo hub audit`.

use std::time::Duration;

use clap::Args;
use client::Client;
use protocol::audit::AuditRecord;
use serde_json::json;

use super::Verb;
use crate::{
    exit::Outcome,
    output::{Output, or_dash, plain, table, time},
};

/// How often a hub is asked for more.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What was done through the hub.
#[derive(Debug, Args)]
#[command(after_help = "\
Needs a token that manages the hub. Every change, every command to a runtime and every refusal
is there.

Examples:
  tombolo hub audit
  tombolo hub audit --offset 100 --limit 50
  tombolo hub audit --follow --json | jq -c .entry")]
pub(super) struct Audit {
    /// The number of the last entry that was seen
    #[arg(long, default_value_t = 0, value_name = "SEQ")]
    offset: u64,
    /// How many entries are shown at most
    #[arg(long, value_name = "COUNT", conflicts_with = "follow", value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: Option<u32>,
    /// Go on with what is done next; with --json each entry is a line
    #[arg(long)]
    follow: bool,
}

impl Verb for Audit {
    async fn run(self, hub: &Client, output: Output) -> Outcome {
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
            if !page.has_more {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
    }
}

fn view(records: Vec<AuditRecord>) -> String {
    let header = ["SEQ", "AT", "USER", "VERB", "RUNTIME", "WORKER", "METHOD", "PATH", "STATUS", "MS"];
    table(header, records.into_iter().map(row))
}

fn row(record: AuditRecord) -> [String; 10] {
    let AuditRecord { seq, entry } = record;
    [
        seq.to_string(),
        time(Some(entry.at)),
        or_dash(entry.user),
        entry.verb,
        or_dash(entry.runtime),
        or_dash(entry.worker),
        entry.method,
        entry.path,
        or_dash(entry.status),
        entry.duration_ms.to_string(),
    ]
}
