//! What happened in a session: so far, and what happens next.

use client::{Client, Pages, RecordEvent};
use protocol::SessionId;

use super::view;
use crate::{exit::Outcome, output::Output};

/// Prints what happened so far: one page for programs, or if a limit is given; everything for people.
pub(super) async fn so_far(client: &Client, id: &SessionId, mut pages: Pages, output: Output) -> Outcome {
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

/// Prints what happens until the session is deleted.
pub(super) async fn follow(
    client: &Client,
    id: &SessionId,
    offset: u64,
    include_raw: bool,
    output: Output,
) -> Outcome {
    let mut events = client.sessions().events(id, offset, include_raw).await?;
    while let Some(event) = events.next().await? {
        match event {
            RecordEvent::Record(_, json) if output.json => output.line(&json)?,
            RecordEvent::Record(record, _) => output.line(&view::record(&record))?,
            RecordEvent::Gap(_) => output.talk("[events are missing here]"),
            RecordEvent::Other(..) => {}
        }
    }
    Ok(())
}

/// Prints the transcript: one page for programs, or if a limit is given; everything for people.
pub(super) async fn messages(
    client: &Client,
    id: &SessionId,
    mut cursor: Option<String>,
    limit: Option<u32>,
    output: Output,
) -> Outcome {
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
