//! The events of a server, as one attachment receives them.

use bytes::Bytes;
use process::ChildExit;
use sse::{FrameTooLarge, SseFrame};
use tokio::sync::{mpsc, oneshot};

/// The events of a server, of all of its sessions.
#[derive(Debug)]
pub struct ServerEvents {
    queue: mpsc::Receiver<ServerEvent>,
    detached: oneshot::Receiver<DetachReason>,
    reason: Option<DetachReason>,
}

/// An event of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerEvent {
    /// The data of an event.
    Data(Bytes),
    /// An event that was too long to be kept.
    TooLong {
        /// Its length.
        bytes: u64,
    },
}

impl From<Result<SseFrame, FrameTooLarge>> for ServerEvent {
    /// Keeps only the data: the server repeats an event's id and type in it.
    fn from(frame: Result<SseFrame, FrameTooLarge>) -> Self {
        match frame {
            Ok(frame) => Self::Data(frame.data.into()),
            Err(FrameTooLarge { bytes }) => Self::TooLong { bytes: bytes as u64 },
        }
    }
}

/// Why an attachment gets no more events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DetachReason {
    /// The server has exited.
    Died {
        /// How it exited.
        exit: ChildExit,
        /// The end of its standard error.
        stderr: String,
    },
    /// The session read too slowly, so that events would have been lost. The server still runs.
    Behind,
    /// The server was stopped.
    Stopped,
}

impl ServerEvents {
    pub(crate) fn new(queue: mpsc::Receiver<ServerEvent>, detached: oneshot::Receiver<DetachReason>) -> Self {
        Self { queue, detached, reason: None }
    }

    /// Waits for the next event. Cancel safe.
    ///
    /// # Errors
    /// [`DetachReason`] after the last event; later calls return it again.
    pub async fn next(&mut self) -> Result<ServerEvent, DetachReason> {
        if let Some(event) = self.queue.recv().await {
            return Ok(event);
        }
        if let Some(reason) = &self.reason {
            return Err(reason.clone());
        }
        // The owner always sends a reason, unless the async runtime ends first.
        let reason = (&mut self.detached).await.unwrap_or(DetachReason::Stopped);
        self.reason = Some(reason.clone());
        Err(reason)
    }
}
