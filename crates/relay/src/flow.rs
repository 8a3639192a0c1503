//! Credit: how much of the stream of one request may be on its way.
//!
//! A device that knows credit says so in `hello.capabilities.flow.window_bytes`, the other side in the additive field
//! `flow.window_bytes` of `relay.accepted`. Both are the bytes of stream messages, each counted whole, that the other may
//! send for one request. More is granted by the event `stream.credit` with `{id, bytes}`, at the latest when half of the
//! window was read; so that a large message does not wait for ever, one larger than that counts as half of the window. If
//! either side says nothing there is no credit in either direction.

use protocol::relay::{EventFrame, Frame, RawJson};
use serde::{Deserialize, Serialize};

/// The event that grants more.
pub(crate) const CREDIT: &str = "stream.credit";

/// The event that accepts a device.
pub(crate) const ACCEPTED: &str = "relay.accepted";

/// More of the stream of one request may be sent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Credit {
    /// The request.
    pub(crate) id: String,
    /// How much more.
    pub(crate) bytes: u64,
}

impl Credit {
    pub(crate) fn frame(&self) -> Frame {
        Frame::Event(EventFrame { event: CREDIT.into(), payload: RawJson::from_value(self) })
    }
}

/// What a message counts.
pub(crate) fn charge(bytes: usize, window: u64) -> u64 {
    (bytes as u64).min(half(window))
}

/// What was read before more is granted, at most.
pub(crate) fn half(window: u64) -> u64 {
    (window / 2).max(1)
}
