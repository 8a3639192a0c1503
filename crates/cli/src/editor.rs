//! `tombolo acp`: an ACP agent on the standard streams, for editors that start their agents as child processes. The agent runs
//! in a sandbox; this process bridges to it and survives network failures.
//!
//! Each line from the editor becomes one `POST`, which is repeated under the same idempotency key until the daemon confirms it.
//! Messages from the agent arrive on an event stream that resumes after the last message read. So nothing is lost or
//! duplicated in either direction. Standard output carries ACP messages and nothing else.

mod agent_instance;
mod agent_to_editor;
mod editor_reader;
mod editor_to_agent;
mod editor_writer;
mod hangup;
mod open_requests;
mod options;
mod queue;
mod retry_policy;
mod signals;

use std::{cell::RefCell, pin::pin, process::ExitCode, time::Duration};

use client::Client;

pub(crate) use options::EditorOptions;

use crate::exit::{self, CommandError, CommandResult};
use agent_instance::AgentInstance;
use editor_reader::EditorReader;
use editor_to_agent::MessageSender;
use editor_writer::EditorWriter;
use open_requests::OpenRequests;
use retry_policy::RetryPolicy;
use signals::TerminationSignals;

/// After a `POST` has failed because the agent exited: how long the event stream may take to report that too.
const EXIT_EVENT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the editor may take to read the last messages.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Bridges until the editor disconnects.
pub(crate) fn run(options: &EditorOptions) -> ExitCode {
    let outcome = options.server.connect().and_then(|client| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let outcome = runtime.block_on(serve(&client, options));
        // Do not wait for the threads that read and write the standard streams: they may block for ever.
        runtime.shutdown_background();
        outcome
    });
    exit::report(outcome, false, &format!("tombolo acp at {}", options.server.url()))
}

async fn serve(client: &Client, options: &EditorOptions) -> CommandResult {
    let mut signals =
        TerminationSignals::listen().map_err(|error| exit::local("listen for signals", error))?;
    let retry = RetryPolicy::new(options.reconnect_timeout());
    let open_requests = RefCell::new(OpenRequests::default());
    let mut reader = EditorReader::from_stdin();
    let writer = EditorWriter::to_stdout();
    let mut instance = AgentInstance::new(client, options)?;
    let bridge = EditorBridge { client, writer: &writer, open_requests: &open_requests, retry };
    let ending = tokio::select! {
        ending = bridge.run(&mut instance, &mut reader) => ending,
        // An editor that has closed our output has left.
        () = writer.closed() => Ok(()),
        () = hangup::editor_left() => Ok(()),
        () = signals.received() => Ok(()),
    };
    if let Err(failure) = &ending {
        reject_open_requests(failure, &mut reader, &writer, &open_requests).await;
    }
    let clean_up = async {
        tokio::join!(instance.delete_if_owned(), tokio::time::timeout(FLUSH_TIMEOUT, writer.finish())).0
    };
    let released = tokio::select! {
        released = clean_up => released,
        // A second signal means: do not wait.
        () = signals.received() => Ok(()),
    };
    ending.and(released)
}

/// The parts that both directions share.
struct EditorBridge<'a> {
    client: &'a Client,
    writer: &'a EditorWriter,
    open_requests: &'a RefCell<OpenRequests>,
    retry: RetryPolicy,
}

impl EditorBridge<'_> {
    /// Forwards messages in both directions until the editor closes its output, or one direction fails.
    async fn run(&self, instance: &mut AgentInstance<'_>, reader: &mut EditorReader) -> CommandResult {
        // Contact the daemon only after the editor has sent its first message. A failure before that could not be reported to
        // the editor, which only shows errors that answer one of its requests.
        if reader.peek().await.is_none() {
            return Ok(());
        }
        let start = instance.find_or_create(self.retry).await?;
        let id = instance.id().clone();
        let events = self.retry.run(|| self.client.acp().events(&id, start.after)).await?;
        let events = events.reconnect_for(self.retry.timeout());
        let mut to_editor = pin!(agent_to_editor::forward(events, self.writer, self.open_requests));
        let mut sender = MessageSender::new(self.client, id.clone(), start.agent, self.retry);
        tokio::select! {
            ended = &mut to_editor => ended,
            sent = sender.run(reader, self.writer, self.open_requests) => match sent {
                // The agent's last messages may still be on the stream, and the stream knows the exit status.
                Err(CommandError::AgentEnded { .. }) => {
                    tokio::time::timeout(EXIT_EVENT_TIMEOUT, to_editor).await.unwrap_or(sent)
                }
                sent => sent,
            },
        }
    }
}

/// Answers every open request of the editor with an error, because no other answer will come. An editor would wait for ever.
async fn reject_open_requests(
    failure: &CommandError,
    reader: &mut EditorReader,
    writer: &EditorWriter,
    open_requests: &RefCell<OpenRequests>,
) {
    let mut open_requests = open_requests.take();
    while let Some(message) = reader.try_next_message() {
        open_requests.add(&message);
    }
    let answers = open_requests.error_responses(&failure.summary());
    let write = async {
        for answer in answers {
            if writer.line(answer).await.is_err() {
                break;
            }
        }
    };
    // Do not wait for an editor that does not read.
    let _ = tokio::time::timeout(FLUSH_TIMEOUT, write).await;
}
