//! A request that was sent, until something comes of it.

use std::{
    pin::Pin,
    task::{Context as Task, Poll},
};

use futures_util::{FutureExt, Stream, StreamExt, stream};
use protocol::relay::{RawJson, RelayError, RelayErrorCode};
use relay::{Call, Part};
use tokio_util::sync::CancellationToken;

use super::{
    Relay,
    aftermath::{Aftermath, Held},
    pending::Pending,
    starting::Starting,
};

/// A request that was sent. Who drops it cancels it.
pub(super) struct Running {
    pub(super) relay: Relay,
    /// None once it is over.
    pub(super) sent: Option<Sent>,
    /// Done when it may not go on.
    pub(super) revoked: Pin<Box<dyn Future<Output = ()> + Send>>,
    pub(super) pending: Pending,
    /// How much of its stream came.
    pub(super) bytes: u64,
    /// Whether the device was told that it is no longer wanted.
    pub(super) is_cancelled: bool,
}

/// What the device works on.
pub(super) struct Sent {
    pub(super) call: Call,
    /// If it starts a command.
    pub(super) starting: Option<Starting>,
    pub(super) held: Held,
}

impl Running {
    /// Goes on until it is cancelled, and then until the device says that it has ended.
    pub(super) fn until(mut self, cancelled: CancellationToken) -> impl Stream<Item = Part> + Send {
        let mut cancelled = Box::pin(cancelled.cancelled_owned().fuse());
        stream::poll_fn(move |task| {
            if cancelled.poll_unpin(task).is_ready()
                && let Some(sent) = &mut self.sent
            {
                sent.call.cancel();
                self.is_cancelled = true;
            }
            self.poll_next_unpin(task)
        })
    }

    fn over(&mut self, outcome: Result<RawJson, RelayError>) -> Poll<Option<Part>> {
        self.pending.end(&outcome, self.bytes);
        Poll::Ready(Some(Part::Outcome(outcome)))
    }

    /// Whoever waits is gone, or is to wait no more.
    fn let_go(&mut self) {
        if let Some(Sent { call, starting, held }) = self.sent.take() {
            let aftermath = Aftermath { call, starting, held };
            self.relay.tasks.spawn(aftermath.run(self.relay.clone()));
        }
    }
}

impl Stream for Running {
    type Item = Part;

    fn poll_next(self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Option<Part>> {
        let this = self.get_mut();
        let Some(sent) = &mut this.sent else { return Poll::Ready(None) };
        if this.revoked.as_mut().poll(task).is_ready() {
            this.let_go();
            return this
                .over(Err(RelayError::new(RelayErrorCode::PermissionDenied, "the grant was revoked")));
        }
        let part = match sent.call.poll_next_unpin(task) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Some(part)) => part,
            Poll::Ready(None) => Part::Outcome(Err(RelayError::new(
                RelayErrorCode::RelayDisconnected,
                "the device disconnected",
            ))),
        };
        if let Some(starting) = &mut sent.starting {
            starting.hear(&this.relay, &part);
        }
        match part {
            Part::Stream(frame) => {
                this.bytes += frame.data.as_str().len() as u64;
                Poll::Ready(Some(Part::Stream(frame)))
            }
            Part::Outcome(outcome) => {
                let starting = this.sent.take().and_then(|sent| sent.starting);
                // Whoever cancelled it does not know of the command that it has left behind.
                match starting.filter(|_| this.is_cancelled).and_then(|starting| starting.left(&this.relay)) {
                    Some(command) => {
                        this.relay.end_soon(command);
                        this.over(Err(RelayError::new(
                            RelayErrorCode::Cancelled,
                            "the request was cancelled",
                        )))
                    }
                    None => this.over(outcome),
                }
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.let_go();
    }
}
