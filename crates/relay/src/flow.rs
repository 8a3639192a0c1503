//! Credit: how much of the stream of one request may be on its way (relay #47).
//!
//! A device that knows credit says so in `hello.capabilities.flow.window_bytes`, the other side in the additive field
//! `flow.window_bytes` of `relay.accepted`. Both are the bytes of stream messages, each counted whole, that the other may
//! send for one request. More is granted by the event `stream.credit` with `{id, bytes}`, at the latest when half of the
//! window was read; so that a large message does not wait for ever, one larger than that counts as half of the window. If
//! either side says nothing there is no credit in either direction.

use protocol::relay::{EventFrame, Flow, Frame, Json};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::limits::WINDOW_BYTES_MAX;

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
        Frame::Event(EventFrame { event: CREDIT.into(), payload: Json::of(self) })
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

/// What the side that accepts says of its credit.
pub(crate) fn announce(accepted: &mut Map<String, Value>, window_bytes: u32) {
    accepted.insert("flow".into(), json!(Flow { window_bytes: window_bytes.into() }));
}

/// What it said.
pub(crate) fn announced(accepted: &Json) -> Option<u64> {
    #[derive(Deserialize)]
    struct Accepted {
        flow: Option<Flow>,
    }
    accepted.read::<Accepted>().ok()?.flow.and_then(window)
}

/// How much may be sent; a window of nothing is none.
pub(crate) fn window(flow: Flow) -> Option<u64> {
    (flow.window_bytes > 0).then_some(flow.window_bytes.min(WINDOW_BYTES_MAX as u64))
}
