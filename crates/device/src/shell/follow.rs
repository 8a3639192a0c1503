//! The request that started a command in the foreground: it tells what the command writes, and how it ended.

use std::sync::Arc;

use bytes::Bytes;
use protocol::relay::{RawJson, RelayError, shell::CommandOutcome};
use relay::{Reply, Unsent};
use tokio::sync::mpsc;

use super::{
    OnDisconnect,
    chunk::Chunk,
    command::{Command, How},
    refusal,
};

/// Follows a command to its end.
pub(super) async fn follow(
    command: &Arc<Command>,
    mut chunks: mpsc::Receiver<Chunk>,
    reply: &mut Reply,
    on_disconnect: OnDisconnect,
) -> Result<CommandOutcome, RelayError> {
    let told = tell(command, &mut chunks, reply).await;
    // What waits for somebody to hear it is let go.
    drop(chunks);
    let Err(error) = told else { return command.outcome(&command.ended().await) };
    if on_disconnect == OnDisconnect::Keep && reply.connection().is_cancelled() {
        // It goes on without us.
        return Err(error);
    }
    command.unwanted.cancel();
    match command.ended().await.how {
        How::Lost | How::Cancelled { lost: true } | How::TimedOut { lost: true } => {
            Err(error.with("lost", true))
        }
        _ => Err(error),
    }
}

/// Tells what it writes, until that ends.
async fn tell(
    command: &Command,
    chunks: &mut mpsc::Receiver<Chunk>,
    reply: &mut Reply,
) -> Result<(), RelayError> {
    reply.stream("status", RawJson::from_value(&command.started())).await?;
    let cancelled = reply.token().clone();
    tokio::select! {
        biased;
        () = cancelled.cancelled() => Err(refusal::cancelled(false)),
        // Nobody need hear the rest of what was ended.
        () = command.cut.cancelled() => Ok(()),
        told = async {
            while let Some(chunk) = chunks.recv().await {
                send(reply, chunk.event(), chunk.bytes).await?;
            }
            Ok(())
        } => told,
    }
}

/// Sends some bytes, in as many messages as they need.
async fn send(reply: &mut Reply, event: &str, bytes: Bytes) -> Result<(), RelayError> {
    let mut parts = vec![bytes];
    while let Some(mut part) = parts.pop() {
        match reply.bytes(event, &part).await {
            Err(Unsent::TooLarge { .. }) if part.len() > 1 => {
                let rest = part.split_off(middle(&part));
                parts.extend([rest, part]);
            }
            sent => sent?,
        }
    }
    Ok(())
}

/// Somewhere in the middle, and not in a character.
fn middle(bytes: &[u8]) -> usize {
    let half = bytes.len() / 2;
    match std::str::from_utf8(bytes) {
        Ok(text) => (half..bytes.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(half.max(1)),
        Err(_) => half,
    }
}
