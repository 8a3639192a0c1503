//! A request of this side that was made.

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

/// A request of this side: a stream of parts, the last of which is its outcome. Who drops it before cancels it.
#[derive(Debug)]
pub struct Call(Source);

/// Where the parts of a call come from.
enum Source {
    Wire(Wire),
    Made { parts: Pin<Box<dyn Stream<Item = Part> + Send>>, cancel: CancellationToken },
    Over,
}

/// A call that the one who drives a connection puts the parts of.
#[derive(Debug)]
struct Wire {
    key: u64,
    parts: mpsc::Receiver<Heard>,
    bell: Bell,
    end: Arc<End>,
    window: u64,
    /// What was read since that was told.
    read: u64,
    ended: bool,
    unwanted: Unwanted,
}

/// Whether a call was cancelled, for the one who drives: it may hear that before it has made the call.
pub(crate) type Unwanted = Arc<AtomicBool>;

/// A part of what comes of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Something on the way, in the order in which it was sent.
    Stream(StreamFrame),
    /// What came of it; nothing follows.
    Outcome(Result<RawJson, RelayError>),
}

/// A part with what it counts.
#[derive(Debug)]
pub(crate) enum Heard {
    Stream { frame: StreamFrame, charge: u64, _weight: Weight },
    Outcome(Result<RawJson, RelayError>),
}

impl Call {
    /// A call, and where its parts are put. There is room for all that the other side has credit for, and the outcome.
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

    /// A call that somebody else makes the parts of, such as one who looks at what is asked before it is passed on. What
    /// comes after an outcome is not heard; if none comes the connection was lost. When the call is dropped `parts` is.
    pub fn of(parts: impl Stream<Item = Part> + Send + 'static) -> Self {
        Self::cancellable(parts, CancellationToken::new())
    }

    /// The same, where `cancel` is cancelled when the call is.
    pub fn cancellable(parts: impl Stream<Item = Part> + Send + 'static, cancel: CancellationToken) -> Self {
        Self(Source::Made { parts: Box::pin(parts), cancel })
    }

    /// A call that came to nothing at once.
    pub fn refused(error: RelayError) -> Self {
        Self::of(stream::iter([Part::Outcome(Err(error))]))
    }

    /// Cancels it; what the other side makes of that is heard all the same, as a result that was sent before wins:
    /// `cancelled` once nothing of it is left, with `lost` in the details if nobody can tell.
    pub fn cancel(&mut self) {
        match &self.0 {
            Source::Wire(wire) => wire.cancel(),
            Source::Made { cancel, .. } => cancel.cancel(),
            Source::Over => {}
        }
    }

    /// What comes of it, whatever comes before that.
    ///
    /// # Errors
    /// What the other side, or this one, says of why nothing comes of it.
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

    /// Tells that a part was read, from time to time.
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
            // First, so that a request that is not made yet is seen to be dropped.
            self.parts.close();
            self.bell.ring(Ring::Dropped { call: self.key });
        }
    }
}
