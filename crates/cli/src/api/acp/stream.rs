//! `tombolo api acp stream`: what an agent said, one event a line.

use client::{Client, Event, EventKind};
use protocol::ServerId;

use crate::{
    exit::Outcome,
    output::{Output, plain},
};

/// Prints events until the agent has ended or the instance is gone.
pub(super) async fn follow(client: &Client, id: &ServerId, after: Option<u64>, output: Output) -> Outcome {
    let mut events = client.acp().events(id, after).await?;
    while let Some(event) = events.next().await? {
        show(&event, output)?;
    }
    Ok(())
}

/// Prints the events that there are now.
pub(super) async fn so_far(client: &Client, id: &ServerId, after: Option<u64>, output: Output) -> Outcome {
    // Opened first: it says if there is no such instance, and whatever comes now is behind what is listed next.
    let mut events = client.acp().events(id, after).await?;
    let list = client.acp().list().await?.read()?;
    let Some(range) =
        list.items.into_iter().find(|instance| instance.server_id == *id).map(|found| found.events)
    else {
        return Ok(());
    };
    let mut at = after.unwrap_or(0).max(range.oldest.saturating_sub(1));
    while at < range.newest {
        let Some(event) = events.next().await? else { break };
        at = match &event.kind {
            EventKind::Message { id } if *id > range.newest => break,
            EventKind::Message { id } => *id,
            // They take a place in the stream without showing it; the next message says where we are.
            EventKind::Unparsed | EventKind::Exited => at + 1,
            EventKind::Gap | EventKind::Other(_) => at,
        };
        show(&event, output)?;
    }
    Ok(())
}

/// Prints one event as a line: for people its id, kind and data.
fn show(event: &Event, output: Output) -> Outcome {
    let id = match event.kind {
        EventKind::Message { id } => Some(id),
        _ => None,
    };
    let name = event.kind.name();
    if output.json {
        return output.event(name, id, &event.data);
    }
    let id = id.map(|id| id.to_string()).unwrap_or_default();
    output.line(&format!("{id:>6}  {:<8}  {}", plain(name), plain(&event.data)))
}
