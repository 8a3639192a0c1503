//! The owner of an instance's process: starts it, appends its output to the journal, and publishes its exit.

use std::{
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use journal::{BatchBuilder, RingWriter, Seq};
use process::{FramedLine, LineChunk, LineProcess, ProcessControl, ProcessSpec, StdoutLines};
use protocol::acp::AcpProcessExit;
use tokio::{
    sync::{mpsc, oneshot},
    time::MissedTickBehavior,
};
use tracing::{debug, info, warn};

use crate::{
    Error, JsonRpcMessage,
    instance::{BridgeCommand, Instance},
    metrics::InstanceMetrics,
    pending_requests::RequestOutcome,
    sse_frame,
};

/// How often a bridge that paused reading checks whether slow readers have caught up.
const CATCH_UP_POLL: Duration = Duration::from_millis(1);

/// How long an agent must be silent before its retained output is compressed.
const PACK_AFTER_SILENCE: Duration = Duration::from_millis(100);

/// How many unparsable lines of one process are logged as warnings. The rest is logged at debug level, so that a
/// program that prints its own log to stdout does not fill ours.
const UNPARSED_WARNINGS_MAX: u32 = 10;

/// How much of an unparsable line is logged.
const UNPARSED_LOGGED_BYTES: usize = 200;

/// Connects one process after another to the journal of an instance.
pub(crate) struct ProcessBridge {
    instance: Arc<Instance>,
    journal: RingWriter,
    inbox: CommandInbox,
    metrics: InstanceMetrics,
}

/// Receives commands while a process runs.
struct CommandInbox {
    commands: mpsc::Receiver<BridgeCommand>,
    /// Set once the instance is being deleted: the grace period for its process.
    stop_grace: Option<Duration>,
}

impl CommandInbox {
    fn is_stopping(&self) -> bool {
        self.stop_grace.is_some()
    }

    /// Receives and handles the next command.
    async fn handle_next(&mut self) {
        match self.commands.recv().await {
            // A process runs already. The caller may have given up waiting.
            Some(BridgeCommand::Start { reply, .. }) => drop(reply.send(Ok(()))),
            Some(BridgeCommand::Stop { grace }) => self.stop_grace = Some(grace),
            None => self.stop_grace = Some(Duration::MAX),
        }
    }

    /// Sleeps for a moment, or handles a command that arrives meanwhile.
    async fn pause(&mut self) {
        tokio::select! {
            () = tokio::time::sleep(CATCH_UP_POLL) => {}
            () = self.handle_next() => {}
        }
    }

    /// Waits until readers that make progress have read the events that `batch` would evict.
    async fn wait_for_readers(&mut self, batch: &mut BatchBuilder<'_>) {
        while !self.is_stopping() && batch.would_overrun_reader(Instant::now()) {
            self.pause().await;
        }
    }
}

/// Why a process is no longer bridged.
#[derive(PartialEq)]
enum BridgeEnd {
    ProcessExited,
    InstanceDeleted,
}

impl ProcessBridge {
    pub(crate) fn new(
        instance: Arc<Instance>,
        journal: RingWriter,
        commands: mpsc::Receiver<BridgeCommand>,
        metrics: InstanceMetrics,
    ) -> Self {
        Self { instance, journal, inbox: CommandInbox { commands, stop_grace: None }, metrics }
    }

    /// Runs until the instance is deleted.
    pub(crate) async fn run(mut self) {
        while let Some(BridgeCommand::Start { spec, reply }) = self.inbox.commands.recv().await {
            let end = match self.start(&spec).await {
                Ok(process) => {
                    // The process runs even if the caller gave up waiting.
                    let _ = reply.send(Ok(()));
                    self.bridge(process).await
                }
                Err(error) => {
                    let _ = reply.send(Err(error));
                    BridgeEnd::ProcessExited
                }
            };
            if end == BridgeEnd::InstanceDeleted {
                break;
            }
        }
        // Dropping the inbox closes the command channel, which `Instance::stop` waits for.
    }

    async fn start(&mut self, spec: &ProcessSpec) -> Result<LineProcess, Error> {
        let process = process::spawn(spec).await.map_err(|error| Error::Start {
            agent: self.instance.agent().clone(),
            source: Arc::new(error),
        })?;
        self.metrics.starts.inc();
        self.journal.unseal();
        let pid = process.control.pid();
        self.instance.set_running(process.stdin.clone(), pid);
        info!(instance = %self.instance.id(), agent = %self.instance.agent(), pid, "agent started");
        Ok(process)
    }

    /// Appends the output of the process to the journal until it exits or the instance is deleted.
    async fn bridge(&mut self, process: LineProcess) -> BridgeEnd {
        let LineProcess { stdin, stdout, control } = process;
        // The instance holds the only other clone. When it drops that one, the process sees the end of its input.
        drop(stdin);
        let end = self.pump_output(stdout, &control).await;
        let exit = control.wait().await;
        if end == BridgeEnd::ProcessExited && exit.code != Some(0) {
            self.metrics.crashes.inc();
        }
        self.publish_exit(AcpProcessExit {
            code: exit.code,
            signal: exit.signal,
            stderr_tail: control.stderr_tail(),
        });
        // The agent itself has exited; this ends the child processes that it left behind.
        control.stop().await;
        end
    }

    /// Reads the standard output, in batches, into the journal until the process has exited.
    async fn pump_output(&mut self, mut lines: StdoutLines, control: &ProcessControl) -> BridgeEnd {
        let mut warnings = 0;
        let mut stopped = false;
        // An interval that ticks only while there is something to pack: resetting a sleep with each line would cost more
        // than handling the line. `spoke` records output since the last tick; packing starts at the first tick without.
        let mut silence = tokio::time::interval(PACK_AFTER_SILENCE);
        silence.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut spoke = false;
        let mut packing = false;
        loop {
            let grace = self.inbox.stop_grace.unwrap_or_default();
            tokio::select! {
                chunk = lines.next() => match chunk {
                    Some(chunk) => {
                        spoke = true;
                        packing = false;
                        self.append_chunk(chunk, &mut warnings).await;
                    }
                    None if self.inbox.is_stopping() => return BridgeEnd::InstanceDeleted,
                    None => return BridgeEnd::ProcessExited,
                },
                () = self.inbox.handle_next(), if !self.inbox.is_stopping() => {}
                // The loop goes on: output that the agent writes while it is being stopped is still appended.
                _ = control.stop_within(grace), if self.inbox.is_stopping() && !stopped => stopped = true,
                _ = silence.tick(), if !packing && self.journal.can_pack() => packing = !std::mem::take(&mut spoke),
                // One small step per iteration, so that output and commands are handled in between.
                () = tokio::task::yield_now(), if packing => packing = self.journal.pack(),
            }
            // Back-pressure: while readers that make progress are far behind, stop reading. The pipe fills up, and the
            // agent blocks on its next write.
            while !self.inbox.is_stopping() && self.journal.should_pause(Instant::now()) {
                self.inbox.pause().await;
            }
        }
    }

    /// Appends all lines of one read, as one batch or as several if they exceed the retention limit.
    async fn append_chunk(&mut self, chunk: LineChunk<'_>, warnings: &mut u32) {
        let mut responses = BatchResponses::default();
        let mut batch = self.journal.batch();
        for piece in chunk {
            let line = match piece {
                FramedLine::Line(line) => line,
                FramedLine::TooLong { bytes } => {
                    batch.push(|_, out| sse_frame::write_unparsed(b"", bytes, out));
                    log_unparsed(&self.instance, "the line is too long", b"", warnings);
                    continue;
                }
            };
            let room = line.len() + sse_frame::OVERHEAD_MAX;
            if !batch.is_empty() && !batch.has_room(room) {
                self.inbox.wait_for_readers(&mut batch).await;
                responses.send(batch.append());
                batch = self.journal.batch();
            }
            batch.reserve(room);
            match JsonRpcMessage::parse_agent(line) {
                Ok(message) => {
                    let mut json = 0..0;
                    let seq = batch.push(|seq, out| json = sse_frame::write_message(seq, line, out));
                    if let JsonRpcMessage::Response { id } = message
                        && let Some(waiter) = self.instance.take_waiter(id)
                    {
                        responses.0.push(BatchResponse { waiter, seq, json });
                    }
                }
                Err(_) if line.trim_ascii().is_empty() => {}
                Err(error) => {
                    batch.push(|_, out| sse_frame::write_unparsed(line, line.len() as u64, out));
                    log_unparsed(&self.instance, &error.to_string(), line, warnings);
                }
            }
        }
        self.inbox.wait_for_readers(&mut batch).await;
        responses.send(batch.append());
    }

    /// Publishes the exit on the event stream, in the description of the instance, and to pending requests.
    fn publish_exit(&mut self, exit: AcpProcessExit) {
        info!(instance = %self.instance.id(), code = exit.code, signal = exit.signal, "agent exited");
        let mut batch = self.journal.batch();
        batch.push(|_, out| sse_frame::write_exited(&exit, out));
        batch.append();
        self.journal.seal();
        self.instance.set_exited(exit);
    }
}

/// The responses in a batch that is not appended yet, with the callers that wait for them.
#[derive(Default)]
struct BatchResponses(Vec<BatchResponse>);

struct BatchResponse {
    waiter: oneshot::Sender<RequestOutcome>,
    seq: Seq,
    /// The response within its frame.
    json: Range<usize>,
}

impl BatchResponses {
    /// Completes the requests with slices of the appended batch. Only after the append: a caller that knows its response
    /// must find it on the stream.
    fn send(&mut self, batch: Option<journal::FrameChunk>) {
        let Some(batch) = batch else { return };
        for BatchResponse { waiter, seq, json } in self.0.drain(..) {
            let frame = batch.frame((seq.get() - batch.first().get()) as usize);
            // The caller may have given up waiting; the response is on the stream.
            let _ = waiter.send(RequestOutcome::Response { seq, body: frame.slice(json) });
        }
    }
}

fn log_unparsed(instance: &Instance, reason: &str, line: &[u8], warnings: &mut u32) {
    let text = String::from_utf8_lossy(&line[..line.len().min(UNPARSED_LOGGED_BYTES)]);
    *warnings = warnings.saturating_add(1);
    if *warnings <= UNPARSED_WARNINGS_MAX {
        warn!(instance = %instance.id(), reason, %text, "the agent wrote a line that is not a JSON-RPC message");
    } else {
        debug!(instance = %instance.id(), reason, %text, "the agent wrote a line that is not a JSON-RPC message");
    }
}
