//! Flow control by credit: the bytes of one request's stream that may be in flight.
//!
//! A device that supports credit sends `hello.capabilities.flow.window_bytes`, and the other side the additive field
//! `flow.window_bytes` of `relay.accepted`. Each is the number of bytes of stream messages, counted whole, that the other side may
//! send for one request. The event `stream.credit` with `{id, bytes}` grants more, at the latest when half of the window was read.
//! A message that is larger than that counts as half of the window, so that it does not wait for ever. Unless both sides support
//! credit, there is none in either direction.

use protocol::relay::{EventFrame, Frame, RawJson};
use serde::{Deserialize, Serialize};

/// The event that grants more credit.
pub(crate) const CREDIT: &str = "stream.credit";

/// The event that accepts a device.
pub(crate) const ACCEPTED: &str = "relay.accepted";

/// Additional credit for the stream of one request.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Credit {
    /// The request.
    pub(crate) id: String,
    /// The number of bytes.
    pub(crate) bytes: u64,
}

impl Credit {
    pub(crate) fn frame(&self) -> Frame {
        Frame::Event(EventFrame { event: CREDIT.into(), payload: RawJson::from_value(self) })
    }
}

/// The credit that a message costs.
pub(crate) fn charge(bytes: usize, window: u64) -> u64 {
    (bytes as u64).min(half(window))
}

/// The number of read bytes after which more credit is granted.
pub(crate) fn half(window: u64) -> u64 {
    (window / 2).max(1)
}
