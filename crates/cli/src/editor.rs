//! `tombolo acp`: an agent on the standard streams, for editors that start their agents as processes. The agent itself
//! runs in a sandbox; here is a wire to it that survives a dropped network.
//!
//! A line of the editor is one `POST`, sent again under the same key until it is known to have arrived; what the agent
//! says comes on a stream that goes on after the last message that was read. So nothing is lost or doubled on either
//! way. Standard output carries ACP and nothing else.

mod claim;
mod hangup;
mod inbox;
mod lines;
mod options;
mod outbox;
mod patience;
mod pending;
mod queue;
mod signals;
mod writer;

use std::{cell::RefCell, pin::pin, process::ExitCode, time::Duration};

use client::Client;

pub(crate) use options::EditorOptions;

use crate::exit::{self, Failure, Outcome};
use claim::Claim;
use lines::Lines;
use outbox::Outbox;
use patience::Patience;
use pending::Pending;
use signals::Signals;
use writer::Writer;

/// How long the stream may take to tell the end of an agent that is known to have ended.
const LAST_WORDS_MAX: Duration = Duration::from_secs(5);

/// How long the editor may take to read what is said to it last.
const FLUSH_MAX: Duration = Duration::from_secs(2);

/// Is the agent until the editor leaves.
pub(crate) fn run(options: &EditorOptions) -> ExitCode {
    let outcome = options.server.connect().and_then(|client| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let outcome = runtime.block_on(serve(&client, options));
        // Threads may still wait for the standard streams, which nobody needs any more.
        runtime.shutdown_background();
        outcome
    });
    exit::report(outcome, false, &format!("tombolo acp at {}", options.server.url()))
}

async fn serve(client: &Client, options: &EditorOptions) -> Outcome {
    let mut signals = Signals::listen().map_err(|error| exit::local("listen for signals", error))?;
    let patience = Patience::new(options.reconnect_timeout());
    let pending = RefCell::new(Pending::default());
    let mut lines = Lines::of_stdin();
    let writer = Writer::of_stdout();
    let mut claim = Claim::new(client, options)?;
    let ending = tokio::select! {
        ending = converse(client, &mut claim, &mut lines, &writer, &pending, patience) => ending,
        // Whoever does not read has left.
        () = writer.broken() => Ok(()),
        () = hangup::editor_left() => Ok(()),
        () = signals.received() => Ok(()),
    };
    if let Err(failure) = &ending {
        say_no(failure, &mut lines, &writer, &pending).await;
    }
    let farewell =
        async { tokio::join!(claim.release(), tokio::time::timeout(FLUSH_MAX, writer.finish())).0 };
    let released = tokio::select! {
        released = farewell => released,
        // Who asks twice does not want to wait.
        () = signals.received() => Ok(()),
    };
    ending.and(released)
}

/// Carries messages both ways until the editor has no more, or one of the two ways is at its end.
async fn converse(
    client: &Client,
    claim: &mut Claim<'_>,
    lines: &mut Lines,
    writer: &Writer,
    pending: &RefCell<Pending>,
    patience: Patience,
) -> Outcome {
    // Nothing is asked of the daemon before the editor says something, so that every refusal is an answer to it.
    if lines.peek().await.is_none() {
        return Ok(());
    }
    let start = claim.take(patience).await?;
    let id = claim.id().clone();
    let events = patience.persist(|| client.acp().events(&id, start.after)).await?;
    let mut inbox = pin!(inbox::run(events.patient(patience.time()), writer, pending));
    let mut outbox = Outbox::new(client, id.clone(), start.agent, patience);
    tokio::select! {
        ended = &mut inbox => ended,
        sent = outbox.run(lines, writer, pending) => match sent {
            // The last it said is still on the stream, and the stream knows best how it ended.
            Err(Failure::AgentEnded { .. }) => {
                tokio::time::timeout(LAST_WORDS_MAX, inbox).await.unwrap_or(sent)
            }
            sent => sent,
        },
    }
}

/// Answers every request of the editor that will get no other answer.
async fn say_no(failure: &Failure, lines: &mut Lines, writer: &Writer, pending: &RefCell<Pending>) {
    let mut pending = pending.take();
    while let Some(line) = lines.drain() {
        pending.asked(&line);
    }
    let answers = pending.refusals(&failure.summary());
    let say = async {
        for answer in answers {
            if writer.line(answer).await.is_err() {
                break;
            }
        }
    };
    // An editor that does not read is not waited for.
    let _ = tokio::time::timeout(FLUSH_MAX, say).await;
}
