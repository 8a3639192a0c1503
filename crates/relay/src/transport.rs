//! What carries the messages.

use std::task::{Context, Poll};

use protocol::relay::Packet;

use crate::{CloseCode, Lost};

/// Messages in both directions, in order. Who polls is the one task that drives the connection.
pub trait Transport: Send + 'static {
    /// The next message of the other side.
    ///
    /// # Errors
    /// If there is none: the other side closed, is gone, or sent what is no text.
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<Packet, Lost>>;

    /// Whether it carries binary messages: nobody sends one where it does not.
    fn carries_bytes(&self) -> bool;

    /// Whether [`send`](Self::send) may be called once.
    ///
    /// # Errors
    /// If nothing can be sent any more.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Lost>>;

    /// Sends a message, after [`poll_ready`](Self::poll_ready).
    ///
    /// # Errors
    /// If nothing can be sent any more.
    fn send(&mut self, packet: Packet) -> Result<(), Lost>;

    /// Whether everything is on its way.
    ///
    /// # Errors
    /// If nothing can be sent any more.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Lost>>;

    /// Says why nothing follows, after [`poll_ready`](Self::poll_ready).
    fn close(&mut self, code: CloseCode, reason: String);
}
