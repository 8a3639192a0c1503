//! The owner of a command: takes what it writes to whoever wants it, ends it when it is time, and tells its end.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use process::{ChildExit, ChildStream, OutputReader};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    OnDisconnect,
    chunk::Chunk,
    command::{Command, End, How},
    report::{Report, Word},
    text::Text,
};
use crate::{Lasting, Lending};

/// How long a sandbox that has ended may take to say how: it did so before.
const REPORT_WAIT_MAX: Duration = Duration::from_secs(1);

/// How long a command has at most, whatever the limits allow, when it must not continue.
const STOP_GRACE: Duration = Duration::from_millis(400);

/// What ends a command besides itself, and who hears of its end.
pub(super) struct Circumstances {
    /// Cancelled when the connection is lost over which it was started.
    pub(super) connection: CancellationToken,
    /// Cancelled with it, and when somebody cancels the request that has started the command, until that is answered.
    pub(super) request: CancellationToken,
    pub(super) on_disconnect: OnDisconnect,
    /// Whether the device is lent.
    pub(super) lending: Option<watch::Receiver<Lending>>,
    /// Cancelled when no commands are granted any more.
    pub(super) revoked: CancellationToken,
    /// Cancelled when no more commands are lent.
    pub(super) ending: CancellationToken,
    /// What the owner of the device sees of it.
    pub(super) lasting: Lasting,
}

/// Where output goes.
pub(super) enum Sink {
    /// To whoever follows, who makes the command wait.
    Follower(mpsc::Sender<Chunk>),
    /// It is kept within limits.
    Ring,
}

pub(super) struct Owner {
    command: Arc<Command>,
    pump: Pump,
    report: Option<Report>,
    circumstances: Circumstances,
}

/// Takes output from a command to where it goes.
struct Pump {
    command: Arc<Command>,
    outputs: OutputReader,
    sink: Sink,
    /// How much may still be passed on.
    left: Option<u64>,
    text: [Text; 2],
}

/// Why a command is ended.
enum Why {
    /// The caller cancelled it or disconnected.
    Cancelled,
    /// The device's owner stopped the device, or commands are no longer granted.
    Stopped,
    TimedOut,
}

impl Owner {
    pub(super) fn new(
        command: Arc<Command>,
        outputs: OutputReader,
        report: Option<Report>,
        sink: Sink,
        left: Option<u64>,
        circumstances: Circumstances,
    ) -> Self {
        let pump = Pump { command: command.clone(), outputs, sink, left, text: Default::default() };
        Self { command, pump, report, circumstances }
    }

    /// Is cancelled when no more commands are lent.
    pub(super) fn ending(&self) -> CancellationToken {
        self.circumstances.ending.clone()
    }

    /// Runs until the command and everybody it started is gone.
    pub(super) async fn run(mut self) {
        let why = tokio::select! {
            biased;
            why = why(&self.command, &mut self.circumstances) => Some(why),
            () = self.pump.run() => None,
        };
        let command = &self.command;
        // Also after its own end: it may have left somebody behind.
        let exit = match why {
            Some(Why::Stopped) => command.control.stop_within(STOP_GRACE).await,
            _ => command.control.stop().await,
        };
        let took = command.started.elapsed();
        let lost = exit == ChildExit::UNKNOWN || command.control.has_survivors();
        let how = match why {
            Some(Why::Cancelled | Why::Stopped) => How::Cancelled { lost },
            Some(Why::TimedOut) => How::TimedOut { lost },
            None => how(exit, self.report.as_mut()).await,
        };
        match why {
            Some(_) => command.cut.cancel(),
            // Whoever follows is told all before the end.
            None => self.pump.end().await,
        }
        let end = End { how, took };
        let outcome = command.outcome(&end);
        let lasting = self.circumstances.lasting;
        match &outcome {
            Ok(ended) => lasting.note("exit_code", ended.exit_code),
            Err(error) if error.details.contains_key("lost") => lasting.note("lost", true),
            Err(_) => {}
        }
        // An end that is told is on record.
        lasting.ended(outcome.err().map(|error| error.code)).await;
        command.end.send_replace(Some(end));
    }
}

/// How it ended by itself. A sandbox knows better than who waits for the sandbox.
async fn how(exit: ChildExit, report: Option<&mut Report>) -> How {
    if let Some(report) = report {
        match timeout(REPORT_WAIT_MAX, report.next()).await {
            Ok(Some(Word::Exited(code))) => return How::Exited(code),
            Ok(Some(Word::Killed(signal))) => return How::Killed(signal),
            _ => {}
        }
    }
    match exit {
        ChildExit { code: Some(code), .. } => How::Exited(code),
        ChildExit { signal: Some(signal), .. } => How::Killed(signal),
        _ => How::Lost,
    }
}

/// Returns when the command is to be ended.
async fn why(command: &Command, circumstances: &mut Circumstances) -> Why {
    let Circumstances { connection, request, on_disconnect, lending, revoked, ending, .. } = circumstances;
    let cancelled = async {
        request.cancelled().await;
        // The connection may be lost, over which it is to be kept.
        if *on_disconnect == OnDisconnect::Keep && connection.is_cancelled() {
            std::future::pending().await
        }
    };
    let stopped = async {
        match lending {
            Some(lending) => drop(lending.wait_for(|now| *now == Lending::Stopped).await),
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        // First: the connection is closed for the same reason.
        () = stopped => Why::Stopped,
        () = revoked.cancelled() => Why::Stopped,
        () = command.unwanted.cancelled() => Why::Cancelled,
        () = cancelled => Why::Cancelled,
        () = ending.cancelled() => Why::Cancelled,
        () = sleep_until(Instant::from_std(command.started) + command.runtime_max) => Why::TimedOut,
    }
}

impl Pump {
    /// Takes all output; returns when there is no more.
    async fn run(&mut self) {
        while let Some(output) = self.outputs.next().await {
            let mut bytes = output.bytes;
            self.command.seen.fetch_add(bytes.len() as u64, Relaxed);
            if let Some(left) = &mut self.left {
                bytes.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= bytes.len() as u64;
            }
            self.command.passed.fetch_add(bytes.len() as u64, Relaxed);
            let bytes = self.text[index(output.stream)].take(bytes);
            self.pass(Chunk { stream: output.stream, bytes }).await;
        }
    }

    /// Tells what was held back.
    async fn end(&mut self) {
        for stream in [ChildStream::Stdout, ChildStream::Stderr] {
            let bytes = self.text[index(stream)].end();
            self.pass(Chunk { stream, bytes }).await;
        }
        self.sink = Sink::Ring;
    }

    async fn pass(&mut self, chunk: Chunk) {
        if chunk.bytes.is_empty() {
            return;
        }
        let chunk = match &self.sink {
            Sink::Ring => chunk,
            Sink::Follower(sender) => match sender.send(chunk).await {
                Ok(()) => return,
                Err(mpsc::error::SendError(chunk)) => {
                    // Whoever followed is gone, with what was on its way.
                    self.command.ring.lock().cut();
                    self.sink = Sink::Ring;
                    chunk
                }
            },
        };
        self.command.ring.lock().push(&chunk);
    }
}

fn index(stream: ChildStream) -> usize {
    match stream {
        ChildStream::Stdout => 0,
        ChildStream::Stderr => 1,
    }
}
