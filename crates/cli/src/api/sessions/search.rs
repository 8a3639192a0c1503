//! Prints the sessions and messages that contain a text.

use client::Client;
use protocol::search::SearchHit;

use super::view;
use crate::{
    exit::CommandResult,
    output::{CommandOutput, table, time},
};

/// The largest page of hits.
const PAGE_HITS_MAX: usize = 100;

/// Prints at most `limit` hits. For people the pages are read until there are enough; with `--json` one page is printed.
pub(super) async fn print_hits(
    client: &Client,
    query: &str,
    mut cursor: Option<String>,
    limit: usize,
    output: CommandOutput,
) -> CommandResult {
    let mut hits = Vec::new();
    loop {
        // A page may have fewer hits than it could, because the daemon reads a limited amount for each.
        let wanted = limit.saturating_sub(hits.len()).clamp(1, PAGE_HITS_MAX);
        let answer = client.sessions().search(query, cursor.as_deref(), Some(wanted)).await?;
        if output.json {
            return output.bytes(answer.body());
        }
        let page = answer.read()?;
        hits.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() || hits.len() >= limit {
            break;
        }
    }
    if hits.is_empty() {
        output.print_note("no title and no message contains this text");
        return Ok(());
    }
    output.line(&table(["SESSION", "CREATED", "FROM", "TEXT"], hits.into_iter().map(row)))?;
    if let Some(cursor) = cursor {
        output.print_note(&format!("there may be more: continue with `--cursor {cursor}`"));
    }
    Ok(())
}

fn row(hit: SearchHit) -> [String; 4] {
    let from = hit.role.map_or_else(|| "title".into(), |role| view::name(&role));
    [hit.session_id.to_string(), time(hit.created_at), from, hit.snippet]
}
