//! One command, as those see it who ask about it.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use parking_lot::Mutex;
use process::{ProcessControl, ProcessStdin, PtyResizer};
use protocol::relay::{
    RelayError,
    shell::{CommandOutcome, CommandStarted, CommandState, CommandStatus},
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{refusal, ring::Ring, signal};

/// One command.
pub(super) struct Command {
    pub(super) id: String,
    /// The session that it was started for; others do not know of it.
    pub(super) session: Option<String>,
    pub(super) stdin: ProcessStdin,
    pub(super) screen: Option<PtyResizer>,
    pub(super) control: ProcessControl,
    pub(super) runtime_max: Duration,
    pub(super) started_at: Timestamp,
    pub(super) started: Instant,
    /// Cancelled when somebody wants it to end.
    pub(super) unwanted: CancellationToken,
    /// Cancelled when it was ended by somebody, and all of it is gone.
    pub(super) cut: CancellationToken,
    pub(super) ring: Mutex<Ring>,
    /// How much it wrote, and how much of that was passed on.
    pub(super) seen: AtomicU64,
    pub(super) passed: AtomicU64,
    pub(super) end: watch::Sender<Option<End>>,
}

/// How a command ended, and how long it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub(super) how: How,
    pub(super) took: Duration,
}

/// How a command ended. What is lost may not have ended: nobody can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Exited(i32),
    Killed(i32),
    Cancelled { lost: bool },
    TimedOut { lost: bool },
    Lost,
}

impl Command {
    pub(super) fn started(&self) -> CommandStarted {
        CommandStarted { command_id: self.id.clone() }
    }

    /// What is told of one in the background when it has started.
    pub(super) fn in_background(&self) -> CommandOutcome {
        CommandOutcome {
            exit_code: None,
            duration_ms: millis(self.started.elapsed()),
            signal: None,
            truncated: None,
            bytes_seen: None,
            bytes_sent: None,
            command_id: Some(self.id.clone()),
        }
    }

    /// How it ended, once it has.
    pub(super) async fn ended(&self) -> End {
        let mut end = self.end.subscribe();
        let ended = end.wait_for(Option::is_some).await;
        let ended = ended.ok().and_then(|end| *end);
        ended.unwrap_or(End { how: How::Lost, took: self.started.elapsed() })
    }

    /// What whoever started it is told of its end.
    pub(super) fn outcome(&self, end: &End) -> Result<CommandOutcome, RelayError> {
        let (exit_code, signal) = match end.how {
            How::Exited(code) => (code, None),
            How::Killed(number) => (128 + number, Some(signal::told(number))),
            How::Cancelled { lost } => return Err(refusal::cancelled(lost)),
            How::TimedOut { lost } => return Err(refusal::timed_out(millis(self.runtime_max), lost)),
            How::Lost => {
                return Err(
                    refusal::failed("the command's exit status could not be determined").with("lost", true)
                );
            }
        };
        let (seen, passed) = (self.seen.load(Relaxed), self.passed.load(Relaxed));
        Ok(CommandOutcome {
            exit_code: Some(exit_code),
            duration_ms: millis(end.took),
            signal,
            truncated: (passed < seen).then_some(true),
            bytes_seen: Some(seen),
            bytes_sent: Some(passed),
            command_id: Some(self.id.clone()),
        })
    }

    /// How it is.
    pub(super) fn status(&self, drain: bool) -> CommandStatus {
        // Before the output: who is told that it has ended is told all that it wrote.
        let end = *self.end.borrow();
        let (state, exit_code) = match end.map(|end| end.how) {
            None => (CommandState::Running, None),
            Some(How::Exited(code)) => (CommandState::Exited, Some(code)),
            Some(How::Killed(number)) => (CommandState::Killed, Some(128 + number)),
            Some(How::Cancelled { lost: false } | How::TimedOut { lost: false }) => {
                (CommandState::Killed, None)
            }
            Some(How::Lost | How::Cancelled { .. } | How::TimedOut { .. }) => (CommandState::Lost, None),
        };
        let mut ring = self.ring.lock();
        let output = if drain { ring.drain() } else { Vec::new() };
        let (seen, passed) = (self.seen.load(Relaxed), self.passed.load(Relaxed));
        let output_truncated = ring.is_cut() || passed < seen;
        CommandStatus { state, exit_code, started_at: self.started_at, output_truncated, output }
    }

    /// Ends it; returns when all of it is gone.
    pub(super) async fn cancel(&self) -> Result<(), RelayError> {
        self.running()?;
        self.unwanted.cancel();
        match self.ended().await.how {
            How::Cancelled { lost: true } | How::TimedOut { lost: true } | How::Lost => {
                Err(refusal::failed("it could not be determined whether the command has ended")
                    .with("lost", true))
            }
            _ => Ok(()),
        }
    }

    /// What has ended is no longer there to be spoken to.
    pub(super) fn running(&self) -> Result<(), RelayError> {
        match *self.end.borrow() {
            None => Ok(()),
            Some(_) => Err(self.gone()),
        }
    }

    pub(super) fn gone(&self) -> RelayError {
        refusal::missing(&self.id, "ended", "the command has ended")
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
