//! The owner of an instance's process: starts it, carries what it says into the journal, and tells its end.

use std::{
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use journal::{BatchBuilder, Seq, Writer};
use process::{Chunk, Control, Lines, Piece, Process, Spec};
use protocol::acp::AcpProcessExit;
use tokio::{
    sync::{mpsc, oneshot},
    time::MissedTickBehavior,
};
use tracing::{debug, info, warn};

use crate::{
    Envelope, Error, Message, frame,
    instance::{Ask, Instance, Phase},
    metrics::Metrics,
    pending::Outcome,
};

/// How often a paused pipe looks whether its readers have caught up.
const PAUSE: Duration = Duration::from_millis(1);

/// How long an agent is silent before what it said is packed.
const REST: Duration = Duration::from_millis(100);

/// How many unparsed lines of one process are worth a warning; a chatty program would fill the log.
const UNPARSED_WARNINGS_MAX: u32 = 10;

/// How much of an unparsed line is logged.
const UNPARSED_LOGGED_BYTES: usize = 200;

pub(crate) struct Bridge {
    pub(crate) instance: Arc<Instance>,
    pub(crate) journal: Writer,
    pub(crate) door: Door,
    pub(crate) metrics: Metrics,
}

/// Where the bridge hears what is asked of it while its process runs.
pub(crate) struct Door {
    asks: mpsc::Receiver<Ask>,
    /// The instance is being deleted: how long its process has.
    stopping: Option<Duration>,
}

impl Door {
    pub(crate) fn new(asks: mpsc::Receiver<Ask>) -> Self {
        Self { asks, stopping: None }
    }

    /// Answers the next that asks.
    async fn answer(&mut self) {
        match self.asks.recv().await {
            // It runs already; whoever asked may have gone.
            Some(Ask::Start(_, reply)) => drop(reply.send(Ok(()))),
            Some(Ask::Stop(grace)) => self.stopping = Some(grace),
            None => self.stopping = Some(Duration::MAX),
        }
    }

    /// Waits a moment, or for somebody who asks.
    async fn pause(&mut self) {
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = self.answer() => {}
        }
    }

    /// Waits until readers that keep up have read what this batch takes the place of.
    async fn let_pass(&mut self, batch: &mut BatchBuilder<'_>) {
        while self.stopping.is_none() && batch.pushes_out(Instant::now()) {
            self.pause().await;
        }
    }
}

/// Why a process is no longer bridged.
#[derive(PartialEq)]
enum End {
    Exited,
    Deleted,
}

impl Bridge {
    /// Runs until the instance is deleted.
    pub(crate) async fn run(mut self) {
        while let Some(Ask::Start(spec, reply)) = self.door.asks.recv().await {
            let end = match self.start(&spec).await {
                Ok(process) => {
                    // Whoever asked may have gone.
                    let _ = reply.send(Ok(()));
                    self.carry(process).await
                }
                Err(error) => {
                    let _ = reply.send(Err(error));
                    End::Exited
                }
            };
            if end == End::Deleted {
                break;
            }
        }
        // Dropping the door tells whoever waits for the stop that it is done.
    }

    async fn start(&mut self, spec: &Spec) -> Result<Process, Error> {
        let process = process::spawn(spec)
            .await
            .map_err(|error| Error::Start { agent: self.instance.agent.clone(), source: Arc::new(error) })?;
        self.metrics.starts.inc();
        self.journal.unseal();
        *self.instance.phase.write() = Phase::Running {
            stdin: process.stdin.clone(),
            pid: process.control.pid(),
            started_at: Timestamp::now(),
        };
        info!(instance = %self.instance.id, agent = %self.instance.agent, pid = process.control.pid(), "agent started");
        Ok(process)
    }

    /// Carries what the process says until it has ended, or the instance is deleted.
    async fn carry(&mut self, process: Process) -> End {
        let Process { stdin, stdout, control } = process;
        // The phase holds the other half: dropped with it, the process would see the end of its input.
        drop(stdin);
        let end = self.pump(stdout, &control).await;
        let exit = control.wait().await;
        if end == End::Exited && exit.code != Some(0) {
            self.metrics.crashes.inc();
        }
        self.tell_exit(AcpProcessExit {
            code: exit.code,
            signal: exit.signal,
            stderr_tail: control.stderr_tail(),
        });
        // The leader is gone; whoever it left behind goes too.
        control.stop().await;
        end
    }

    /// Reads the pipe, in batches, into the journal, until the process has ended.
    async fn pump(&mut self, mut lines: Lines, control: &Control) -> End {
        let mut warnings = 0;
        let mut stopped = false;
        // Ticks only while there is something to pack: a timer set anew by each line would cost more than the line.
        let mut rest = tokio::time::interval(REST);
        rest.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut spoke, mut packing) = (false, false);
        loop {
            let grace = self.door.stopping.unwrap_or_default();
            tokio::select! {
                chunk = lines.next() => match chunk {
                    Some(chunk) => {
                        (spoke, packing) = (true, false);
                        self.on_chunk(chunk, &mut warnings).await;
                    }
                    None => return if self.door.stopping.is_some() { End::Deleted } else { End::Exited },
                },
                () = self.door.answer(), if self.door.stopping.is_none() => {}
                // What the agent says while it is being stopped is still carried.
                _ = control.stop_within(grace), if self.door.stopping.is_some() && !stopped => stopped = true,
                _ = rest.tick(), if !packing && self.journal.packable() => packing = !std::mem::take(&mut spoke),
                // In small steps, so that the agent and everybody else is heard in between.
                () = tokio::task::yield_now(), if packing => packing = self.journal.pack(),
            }
            // Readers that move are far behind: the pipe fills, and the agent waits with it.
            while self.door.stopping.is_none() && self.journal.pressed(Instant::now()) {
                self.door.pause().await;
            }
        }
    }

    /// Renders all lines of one read, as one batch or as many as the memory asks for.
    async fn on_chunk(&mut self, chunk: Chunk<'_>, warnings: &mut u32) {
        let mut answers = Answers::default();
        let mut batch = self.journal.batch();
        for piece in chunk {
            let line = match piece {
                Piece::Line(line) => line,
                Piece::TooLong { bytes } => {
                    batch.push(|_, out| frame::unparsed(b"", bytes, out));
                    log_unparsed(&self.instance, "the line is too long", b"", warnings);
                    continue;
                }
            };
            let room = line.len() + frame::OVERHEAD_MAX;
            if !batch.is_empty() && !batch.has_room(room) {
                self.door.let_pass(&mut batch).await;
                answers.send(batch.append());
                batch = self.journal.batch();
            }
            batch.reserve(room);
            match Envelope::of_agent(line) {
                Ok(message) => {
                    let mut json = 0..0;
                    let seq = batch.push(|seq, out| json = frame::message(seq, line, out));
                    if let Message::Response { id } = message
                        && let Some(waiter) = self.instance.pending.lock().answered(id)
                    {
                        answers.0.push((waiter, seq, json));
                    }
                }
                Err(_) if line.trim_ascii().is_empty() => {}
                Err(error) => {
                    batch.push(|_, out| frame::unparsed(line, line.len() as u64, out));
                    log_unparsed(&self.instance, &error.to_string(), line, warnings);
                }
            }
        }
        self.door.let_pass(&mut batch).await;
        answers.send(batch.append());
    }

    /// Tells readers, waiters and the list that the process has ended.
    fn tell_exit(&mut self, exit: AcpProcessExit) {
        info!(instance = %self.instance.id, code = exit.code, signal = exit.signal, "agent ended");
        let mut batch = self.journal.batch();
        batch.push(|_, out| frame::exited(&exit, out));
        batch.append();
        self.journal.seal();
        let exit = Arc::new(exit);
        {
            let mut phase = self.instance.phase.write();
            let started_at = match &*phase {
                Phase::Running { started_at, .. } | Phase::Exited { started_at, .. } => *started_at,
                Phase::Starting => Timestamp::now(),
            };
            *phase = Phase::Exited { started_at, exit: exit.clone() };
        }
        // After the phase: a request that comes now is refused by it, one that came before is in here.
        let waiters = self.instance.pending.lock().take_all();
        for waiter in waiters {
            let _ = waiter.send(Outcome::Exited(exit.clone()));
        }
    }
}

/// The requests that are answered by a batch: who waits, and where the response stands.
#[derive(Default)]
struct Answers(Vec<(oneshot::Sender<Outcome>, Seq, Range<usize>)>);

impl Answers {
    /// Answers with slices of the batch, once its readers can have it.
    fn send(&mut self, batch: Option<journal::Chunk>) {
        let Some(batch) = batch else { return };
        for (waiter, seq, json) in self.0.drain(..) {
            let frame = batch.frame((seq.get() - batch.first().get()) as usize);
            // Whoever waited may have gone; the answer is on the stream.
            let _ = waiter.send(Outcome::Response(seq, frame.slice(json)));
        }
    }
}

fn log_unparsed(instance: &Instance, reason: &str, line: &[u8], warnings: &mut u32) {
    let text = String::from_utf8_lossy(&line[..line.len().min(UNPARSED_LOGGED_BYTES)]);
    *warnings = warnings.saturating_add(1);
    if *warnings <= UNPARSED_WARNINGS_MAX {
        warn!(instance = %instance.id, reason, %text, "the agent wrote a line that is no message");
    } else {
        debug!(instance = %instance.id, reason, %text, "the agent wrote a line that is no message");
    }
}
