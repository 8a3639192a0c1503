//! Sends and receives messages over the transport.

use std::{
    future::poll_fn,
    task::{Context, Poll, ready},
};

use protocol::relay::Packet;

use super::outbox::Outbox;
use crate::{CloseCode, Lost, Transport, limits::SENT_AT_ONCE_MAX};

/// The transport, and whether all sent messages are flushed.
pub(super) struct Wire<T> {
    transport: T,
    flushed: bool,
    /// Whether the last message was sent. The other direction then has priority, so that neither starves.
    sent: bool,
}

/// A step of the transport.
pub(super) enum Moved {
    /// Some queued messages were sent.
    Sent,
    /// A message was received.
    Received(Packet),
}

impl<T: Transport> Wire<T> {
    pub(super) fn new(transport: T) -> Self {
        Self { transport, flushed: true, sent: false }
    }

    pub(super) fn carries_bytes(&self) -> bool {
        self.transport.carries_bytes()
    }

    /// Sends queued messages or receives one, whichever is possible first. It receives only if `hears` is set.
    pub(super) async fn moves(&mut self, outbox: &mut Outbox, hears: bool) -> Result<Moved, Lost> {
        poll_fn(|context| {
            let hears_first = std::mem::take(&mut self.sent);
            if hears
                && hears_first
                && let Poll::Ready(packet) = self.transport.poll_receive(context)?
            {
                return Poll::Ready(Ok(Moved::Received(packet)));
            }
            if self.poll_send(outbox, context)? {
                self.sent = true;
                return Poll::Ready(Ok(Moved::Sent));
            }
            if !hears {
                return Poll::Pending;
            }
            self.transport.poll_receive(context).map_ok(Moved::Received)
        })
        .await
    }

    /// Sends queued messages; returns whether any was sent.
    fn poll_send(&mut self, outbox: &mut Outbox, context: &mut Context<'_>) -> Result<bool, Lost> {
        let mut sent = 0;
        while sent < SENT_AT_ONCE_MAX && !outbox.is_empty() {
            match self.transport.poll_ready(context)? {
                Poll::Pending => break,
                Poll::Ready(()) => {
                    let Some(packet) = outbox.next() else { break };
                    self.transport.send(packet)?;
                    self.flushed = false;
                    sent += 1;
                }
            }
        }
        if sent == 0 && !self.flushed && self.transport.poll_flush(context)?.is_ready() {
            self.flushed = true;
        }
        Ok(sent > 0)
    }

    /// Closes the transport with a reason, and waits until the peer has closed it too.
    pub(super) async fn close(&mut self, farewell: Option<(CloseCode, String)>) {
        let mut farewell = farewell;
        // An error means that the connection is closed already.
        let _ = poll_fn(|context| {
            if farewell.is_some() {
                ready!(self.transport.poll_ready(context))?;
            }
            if let Some((code, reason)) = farewell.take() {
                self.transport.close(code, reason);
            }
            ready!(self.transport.poll_flush(context))?;
            // Discard what the peer still sends. Closing a socket with unread data resets the connection, and the peer could lose
            // the close frame.
            while ready!(self.transport.poll_receive(context)).is_ok() {}
            Poll::Ready(Ok::<(), Lost>(()))
        })
        .await;
    }
}

#[cfg(test)]
mod tests;
