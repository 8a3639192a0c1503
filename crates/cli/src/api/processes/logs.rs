//! `tombolo api processes logs`: prints the output of a process to the same streams.

use std::io::{self, Write};

use client::{Client, LogEventKind};
use protocol::{
    ProcessId,
    processes::{OutputStream, ProcessLogEntry},
};

use crate::{exit::CommandResult, output::CommandOutput};

/// Prints the output up to now: all of it for people, one page with `--json` or a limit.
pub(super) async fn print_page(
    client: &Client,
    id: ProcessId,
    mut after: Option<u64>,
    limit: Option<u32>,
    output: CommandOutput,
) -> CommandResult {
    loop {
        let answer = client.processes().logs(id, after, limit).await?;
        if output.json {
            return output.bytes(answer.body());
        }
        let page = answer.read()?;
        if page.gap.is_some() {
            output.print_note("[gap: the daemon no longer has the output between these lines]");
        }
        page.items.iter().try_for_each(show)?;
        match page.next_cursor {
            Some(next) if limit.is_none() && !page.items.is_empty() => after = next.parse().ok(),
            _ => return Ok(()),
        }
    }
}

/// Prints output until the process exits.
pub(super) async fn follow(
    client: &Client,
    id: ProcessId,
    after: Option<u64>,
    output: CommandOutput,
) -> CommandResult {
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
            LogEventKind::Gap => {
                output.print_note("[gap: the daemon no longer has the output between these lines]")
            }
            LogEventKind::Exited | LogEventKind::Other(_) => {}
        }
    }
    Ok(())
}

/// Prints the bytes unchanged, with colours, as `docker logs` does.
fn show(entry: &ProcessLogEntry) -> CommandResult {
    let write = |mut out: Box<dyn Write>| {
        out.write_all(entry.text.as_bytes())?;
        out.flush()
    };
    match entry.stream {
        OutputStream::Stdout => write(Box::new(io::stdout().lock()))?,
        OutputStream::Stderr => write(Box::new(io::stderr().lock()))?,
    }
    Ok(())
}
