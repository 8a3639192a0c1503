//! The transport of messages.

use std::task::{Context, Poll};

use protocol::relay::Packet;

use crate::{CloseCode, Lost};

/// Transports messages in both directions, in order. Only the driver of the connection polls it.
pub trait Transport: Send + 'static {
    /// The next message of the peer.
    ///
    /// # Errors
    /// If the peer has closed the connection or disconnected, or has sent something that is not a message.
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<Packet, Lost>>;

    /// Whether it supports binary messages.
    fn carries_bytes(&self) -> bool;

    /// Whether [`send`](Self::send) may be called once.
    ///
    /// # Errors
    /// If the connection has ended.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Lost>>;

    /// Sends a message, after [`poll_ready`](Self::poll_ready).
    ///
    /// # Errors
    /// If the connection has ended.
    fn send(&mut self, packet: Packet) -> Result<(), Lost>;

    /// Whether all sent messages have left this process.
    ///
    /// # Errors
    /// If the connection has ended.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Lost>>;

    /// Sends the reason for closing, after [`poll_ready`](Self::poll_ready).
    fn close(&mut self, code: CloseCode, reason: String);
}
