//! The optional features of a side, which it announces in its hello or acceptance.

use protocol::relay::{BINARY_READ, DeviceCapabilities, RawJson, StreamWindow};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::limits::WINDOW_BYTES_MAX;

/// The optional features of a side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Takes {
    /// The window of each stream; `None` if it does not support credit.
    pub(crate) window: Option<u64>,
    /// Whether file contents may be sent as a binary message.
    pub(crate) bytes: bool,
}

impl Takes {
    /// The features of this side.
    pub(crate) fn ours(window_bytes: u32, carries_bytes: bool) -> Self {
        Self { window: Some(window_bytes.into()), bytes: carries_bytes }
    }

    /// The features that a device announces.
    pub(crate) fn offered(capabilities: &DeviceCapabilities) -> Self {
        Self::read(capabilities.flow, &capabilities.extensions)
    }

    /// The features that the server announces when it accepts a device.
    pub(crate) fn accepted(accepted: &RawJson) -> Self {
        #[derive(Deserialize)]
        struct Accepted {
            flow: Option<StreamWindow>,
            #[serde(default)]
            extensions: Vec<String>,
        }
        let accepted = accepted.read::<Accepted>();
        accepted.map_or_else(|_| Self::default(), |it| Self::read(it.flow, &it.extensions))
    }

    fn read(flow: Option<StreamWindow>, extensions: &[String]) -> Self {
        // A window of zero bytes counts as no support.
        let window = flow.map(|flow| flow.window_bytes).filter(|bytes| *bytes > 0);
        Self {
            window: window.map(|bytes| bytes.min(WINDOW_BYTES_MAX as u64)),
            bytes: extensions.iter().any(|name| name == BINARY_READ),
        }
    }

    /// Announces the features in a hello.
    pub(crate) fn offer(self, capabilities: &mut DeviceCapabilities) {
        capabilities.flow = self.window.map(|window_bytes| StreamWindow { window_bytes });
        if self.bytes {
            capabilities.extensions.push(BINARY_READ.into());
        }
    }

    /// Announces the features in an acceptance, as far as the device supports them too.
    pub(crate) fn accept(self, theirs: Self, accepted: &mut Map<String, Value>) {
        if let (Some(window_bytes), Some(_)) = (self.window, theirs.window) {
            accepted.insert("flow".into(), json!(StreamWindow { window_bytes }));
        }
        if self.bytes && theirs.bytes {
            accepted.insert("extensions".into(), json!([BINARY_READ]));
        }
    }
}
