//! Prints the events and messages of a session.

use client::{Client, EventPageOptions, RecordEvent};
use protocol::SessionId;

use super::view;
use crate::{exit::CommandResult, output::CommandOutput};

/// Prints the events up to now: all of them for people, one page with `--json` or a limit.
pub(super) async fn print_page(
    client: &Client,
    id: &SessionId,
    mut pages: EventPageOptions,
    output: CommandOutput,
) -> CommandResult {
    loop {
        let answer = client.sessions().page(id, pages).await?;
        if output.json {
            return output.bytes(answer.body());
        }
        let page = answer.read()?;
        for record in &page.events {
            output.line(&view::record(record))?;
        }
        match page.events.last() {
            Some(last) if page.has_more && pages.limit.is_none() => pages.offset = last.seq,
            _ => return Ok(()),
        }
    }
}

/// Prints events until the session is deleted.
pub(super) async fn follow(
    client: &Client,
    id: &SessionId,
    offset: u64,
    include_raw: bool,
    output: CommandOutput,
) -> CommandResult {
    let mut events = client.sessions().events(id, offset, include_raw).await?;
    while let Some(event) = events.next().await? {
        match event {
            RecordEvent::Record(_, json) if output.json => output.line(&json)?,
            RecordEvent::Record(record, _) => output.line(&view::record(&record))?,
            RecordEvent::Gap(_) => {
                output.print_note("[gap: the daemon no longer has the events between these lines]")
            }
            RecordEvent::ConnectionLost => output.print_note("[connection lost, reconnecting]"),
            RecordEvent::ConnectionRestored => output.print_note("[connected again]"),
            RecordEvent::Other(..) => {}
        }
    }
    Ok(())
}

/// Prints the messages: all of them for people, one page with `--json` or a limit.
pub(super) async fn print_messages(
    client: &Client,
    id: &SessionId,
    mut cursor: Option<String>,
    limit: Option<u32>,
    output: CommandOutput,
) -> CommandResult {
    loop {
        let answer = client.sessions().messages(id, cursor.as_deref(), limit).await?;
        if output.json {
            return output.bytes(answer.body());
        }
        let page = answer.read()?;
        for message in &page.items {
            output.line(&view::message(message))?;
        }
        match page.next_cursor {
            Some(next) if limit.is_none() => cursor = Some(next),
            _ => return Ok(()),
        }
    }
}
