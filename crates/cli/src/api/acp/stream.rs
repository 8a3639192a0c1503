//! `tombolo api acp stream`: prints the events of an instance, one per line.

use client::{AcpEvent, AcpEventKind, Client};
use protocol::ServerId;

use crate::{
    exit::CommandResult,
    output::{CommandOutput, plain},
};

/// Prints events until the agent exits or the instance is deleted.
pub(super) async fn follow(
    client: &Client,
    id: &ServerId,
    after: Option<u64>,
    output: CommandOutput,
) -> CommandResult {
    let mut events = client.acp().events(id, after).await?;
    while let Some(event) = events.next().await? {
        show(&event, output)?;
    }
    Ok(())
}

/// Prints the events up to now, and stops.
pub(super) async fn so_far(
    client: &Client,
    id: &ServerId,
    after: Option<u64>,
    output: CommandOutput,
) -> CommandResult {
    // Open the stream before reading the range: the stream reports an unknown instance, and every event up to
    // `range.newest` is then certain to be on it.
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
            AcpEventKind::Message { id } if *id > range.newest => break,
            AcpEventKind::Message { id } => *id,
            // These events carry no id of their own but occupy one position each; the next message corrects `at`.
            AcpEventKind::Unparsed | AcpEventKind::Exited => at + 1,
            AcpEventKind::Gap | AcpEventKind::Other(_) => at,
        };
        show(&event, output)?;
    }
    Ok(())
}

/// Prints one event: as JSON for programs, as a line with its id, kind and data for people.
fn show(event: &AcpEvent, output: CommandOutput) -> CommandResult {
    let id = match event.kind {
        AcpEventKind::Message { id } => Some(id),
        _ => None,
    };
    let name = event.kind.name();
    if output.json {
        return output.event(name, id, &event.data);
    }
    let id = id.map(|id| id.to_string()).unwrap_or_default();
    output.line(&format!("{id:>6}  {:<8}  {}", plain(name), plain(&event.data)))
}
