//! `tombolo api processes logs`: what a process wrote, where it wrote it to.

use std::io::{self, Write};

use client::{Client, LogEventKind};
use protocol::{
    ProcessId,
    processes::{LogEntry, Stream},
};

use crate::{exit::Outcome, output::Output};

/// Prints what the process wrote so far: one page for programs, or if a limit is given; everything for people.
pub(super) async fn so_far(
    client: &Client,
    id: ProcessId,
    mut after: Option<u64>,
    limit: Option<u32>,
    output: Output,
) -> Outcome {
    loop {
        let answer = client.processes().logs(id, after, limit).await?;
        if output.json {
            return output.bytes(answer.body());
        }
        let page = answer.read()?;
        if page.gap.is_some() {
            output.talk("[output is missing here]");
        }
        page.items.iter().try_for_each(show)?;
        match page.next_cursor {
            Some(next) if limit.is_none() && !page.items.is_empty() => after = next.parse().ok(),
            _ => return Ok(()),
        }
    }
}

/// Prints what the process writes until it has ended.
pub(super) async fn follow(client: &Client, id: ProcessId, after: Option<u64>, output: Output) -> Outcome {
    let mut events = client.processes().follow(id, after).await?;
    while let Some(event) = events.next().await? {
        match &event.kind {
            kind if output.json => {
                let number = match kind {
                    LogEventKind::Output(entry) => Some(entry.seq),
                    _ => None,
                };
                output.event(kind.name(), number, &event.data)?;
            }
            LogEventKind::Output(entry) => show(entry)?,
            LogEventKind::Gap => output.talk("[output is missing here]"),
            LogEventKind::Exited | LogEventKind::Other(_) => {}
        }
    }
    Ok(())
}

/// As it was written: colours and all, as `docker logs` and others show it.
fn show(entry: &LogEntry) -> Outcome {
    let write = |mut out: Box<dyn Write>| {
        out.write_all(entry.text.as_bytes())?;
        out.flush()
    };
    match entry.stream {
        Stream::Stdout => write(Box::new(io::stdout().lock()))?,
        Stream::Stderr => write(Box::new(io::stderr().lock()))?,
    }
    Ok(())
}
