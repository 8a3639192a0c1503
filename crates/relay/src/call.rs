//! A request of this side.

use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};

use futures_util::{Stream, StreamExt, stream};
use protocol::relay::{RawJson, RelayError, StreamFrame};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    Lost,
    bell::{Bell, Ring},
    flow,
    held::Weight,
    limits::STREAM_BYTES_MIN,
    peer::End,
};

/// A request of this side: a stream of parts, the last of which is its outcome. Dropping it before that cancels the request.
#[derive(Debug)]
pub struct Call(Source);

/// The source of a call's parts.
enum Source {
    Wire(Wire),
    Made { parts: Pin<Box<dyn Stream<Item = Part> + Send>>, cancel: CancellationToken },
    Over,
}

/// A call whose parts the driver of a connection sends.
#[derive(Debug)]
struct Wire {
    key: u64,
    parts: mpsc::Receiver<Heard>,
    bell: Bell,
    end: Arc<End>,
    window: u64,
    /// The bytes that were read since the driver was last notified.
    read: u64,
    ended: bool,
    unwanted: Unwanted,
}

/// Whether a call was cancelled. The driver checks it before it sends a request, because the signal may arrive first.
pub(crate) type Unwanted = Arc<AtomicBool>;

/// A part of the response to a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// A chunk of the stream, in the order in which the peer sent it.
    Stream(StreamFrame),
    /// The outcome; nothing follows.
    Outcome(Result<RawJson, RelayError>),
}

/// A part with its share of the window.
#[derive(Debug)]
pub(crate) enum Heard {
    Stream { frame: StreamFrame, charge: u64, _weight: Weight },
    Outcome(Result<RawJson, RelayError>),
}

impl Call {
    /// A call, and the sender of its parts. The channel has room for everything that the peer has credit for, and the outcome.
    pub(crate) fn new(
        key: u64,
        window: u32,
        bell: Bell,
        end: Arc<End>,
    ) -> (Self, mpsc::Sender<Heard>, Unwanted) {
        let (sender, parts) = mpsc::channel(window as usize / STREAM_BYTES_MIN + 2);
        let (window, unwanted) = (window.into(), Unwanted::default());
        let wire = Wire { key, parts, bell, end, window, read: 0, ended: false, unwanted: unwanted.clone() };
        (Self(Source::Wire(wire)), sender, unwanted)
    }

    /// A call with parts from elsewhere, for example from code that checks a request before it forwards it. Parts after the outcome
    /// are ignored; without an outcome, the connection counts as lost. Dropping the call drops `parts`.
    pub fn of(parts: impl Stream<Item = Part> + Send + 'static) -> Self {
        Self::cancellable(parts, CancellationToken::new())
    }

    /// As [`Call::of`]; cancelling the call cancels `cancel`.
    pub fn cancellable(parts: impl Stream<Item = Part> + Send + 'static, cancel: CancellationToken) -> Self {
        Self(Source::Made { parts: Box::pin(parts), cancel })
    }

    /// A call that has failed already.
    pub fn refused(error: RelayError) -> Self {
        Self::of(stream::iter([Part::Outcome(Err(error))]))
    }

    /// Cancels the call, which still has an outcome: a result that the peer has sent before, or `cancelled` once nothing of the
    /// request is left. The details contain `lost` if that could not be confirmed.
    pub fn cancel(&mut self) {
        match &self.0 {
            Source::Wire(wire) => wire.cancel(),
            Source::Made { cancel, .. } => cancel.cancel(),
            Source::Over => {}
        }
    }

    /// Waits for the outcome and ignores the stream.
    ///
    /// # Errors
    /// The error of the peer, or of the connection.
    pub async fn outcome(mut self) -> Result<RawJson, RelayError> {
        loop {
            match self.next().await {
                Some(Part::Stream(_)) => {}
                Some(Part::Outcome(outcome)) => return outcome,
                None => return Err(Lost::Gone.outcome()),
            }
        }
    }
}

impl Stream for Call {
    type Item = Part;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Part>> {
        let source = &mut self.get_mut().0;
        let part = match source {
            Source::Wire(wire) => return wire.poll_next(context),
            Source::Made { parts, .. } => ready!(parts.as_mut().poll_next(context)),
            Source::Over => return Poll::Ready(None),
        };
        let part = part.unwrap_or_else(|| Part::Outcome(Err(Lost::Gone.outcome())));
        if matches!(part, Part::Outcome(_)) {
            *source = Source::Over;
        }
        Poll::Ready(Some(part))
    }
}

impl Wire {
    fn cancel(&self) {
        if !self.ended && !self.unwanted.swap(true, Relaxed) {
            self.bell.ring(Ring::Cancelled { call: self.key });
        }
    }

    /// Counts a part as read, and notifies the driver when half of the window was read.
    fn was_read(&mut self, charge: u64) {
        self.read += charge;
        if self.read >= flow::half(self.window) {
            self.bell.ring(Ring::Read { call: self.key, bytes: std::mem::take(&mut self.read) });
        }
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Part>> {
        if self.ended {
            return Poll::Ready(None);
        }
        Poll::Ready(Some(match ready!(self.parts.poll_recv(context)) {
            Some(Heard::Stream { frame, charge, .. }) => {
                self.was_read(charge);
                Part::Stream(frame)
            }
            outcome => {
                self.ended = true;
                Part::Outcome(match outcome {
                    Some(Heard::Outcome(outcome)) => outcome,
                    _ => Err(self.end.outcome()),
                })
            }
        }))
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wire(wire) => wire.fmt(f),
            Self::Made { .. } => f.write_str("Made"),
            Self::Over => f.write_str("Over"),
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if !self.ended {
            // Close the channel before the signal, so that the driver does not send a request that it has not sent yet.
            self.parts.close();
            self.bell.ring(Ring::Dropped { call: self.key });
        }
    }
}
