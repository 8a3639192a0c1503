//! One use of a server.

use bytes::Bytes;
use process::ChildExit;
use sse::{FrameTooLarge, SseFrame};
use tokio::sync::{mpsc, oneshot};

use super::Calls;

/// One use of a server. It has left when its [`Events`] are dropped.
#[derive(Debug)]
pub struct Attached {
    /// What the server tells from now on.
    pub events: Events,
    /// How it is asked.
    pub calls: Calls,
    /// Its process.
    pub pid: u32,
}

/// What a server tells: everything, whichever session it is about.
#[derive(Debug)]
pub struct Events {
    pub(super) queue: mpsc::Receiver<Said>,
    pub(super) gone: oneshot::Receiver<Gone>,
    pub(super) why: Option<Gone>,
}

/// One thing that a server told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// The data of an event.
    Event(Bytes),
    /// An event that was too long to be kept.
    TooLong {
        /// How long it was.
        bytes: u64,
    },
}

impl From<Result<SseFrame, FrameTooLarge>> for Said {
    /// Of an event only its data counts: the server repeats the rest in it.
    fn from(frame: Result<SseFrame, FrameTooLarge>) -> Self {
        match frame {
            Ok(frame) => Self::Event(frame.data.into()),
            Err(FrameTooLarge { bytes }) => Self::TooLong { bytes: bytes as u64 },
        }
    }
}

/// Why a server tells nothing more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gone {
    /// It has ended.
    Died {
        /// How.
        exit: ChildExit,
        /// The last it wrote to standard error.
        stderr: String,
    },
    /// This user did not read for so long that events would have been lost. The server is still there.
    Behind,
    /// It was stopped because all servers are.
    Stopped,
}

impl Events {
    /// Waits for the next thing that the server tells. Cancel safe.
    ///
    /// # Errors
    /// [`Gone`] when nothing more will come, after all that came before; the same again for whoever asks again.
    pub async fn next(&mut self) -> Result<Said, Gone> {
        if let Some(said) = self.queue.recv().await {
            return Ok(said);
        }
        if let Some(why) = &self.why {
            return Err(why.clone());
        }
        // Nobody says why only if the runtime ends.
        let why = (&mut self.gone).await.unwrap_or(Gone::Stopped);
        self.why = Some(why.clone());
        Err(why)
    }
}
