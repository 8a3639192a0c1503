//! What a side takes beyond the frames of the protocol: it says so in its hello or its acceptance.

use protocol::relay::{BINARY_READ, DeviceCapabilities, RawJson, StreamWindow};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::limits::WINDOW_BYTES_MAX;

/// What a side takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Takes {
    /// How much of each stream; none if it knows no credit.
    pub(crate) window: Option<u64>,
    /// Whether the bytes of a file may come in a binary message.
    pub(crate) bytes: bool,
}

impl Takes {
    /// What this side takes, over a transport that may carry bytes.
    pub(crate) fn ours(window_bytes: u32, carries_bytes: bool) -> Self {
        Self { window: Some(window_bytes.into()), bytes: carries_bytes }
    }

    /// What a device says that it takes.
    pub(crate) fn offered(capabilities: &DeviceCapabilities) -> Self {
        Self::read(capabilities.flow, &capabilities.extensions)
    }

    /// What the other side says, when it accepts, that it takes.
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
        // A window of nothing is none.
        let window = flow.map(|flow| flow.window_bytes).filter(|bytes| *bytes > 0);
        Self {
            window: window.map(|bytes| bytes.min(WINDOW_BYTES_MAX as u64)),
            bytes: extensions.iter().any(|name| name == BINARY_READ),
        }
    }

    /// Says it in a hello.
    pub(crate) fn offer(self, capabilities: &mut DeviceCapabilities) {
        capabilities.flow = self.window.map(|window_bytes| StreamWindow { window_bytes });
        if self.bytes {
            capabilities.extensions.push(BINARY_READ.into());
        }
    }

    /// Says it when a device is accepted that takes `theirs`: of what only one side knows nothing is said.
    pub(crate) fn accept(self, theirs: Self, accepted: &mut Map<String, Value>) {
        if let (Some(window_bytes), Some(_)) = (self.window, theirs.window) {
            accepted.insert("flow".into(), json!(StreamWindow { window_bytes }));
        }
        if self.bytes && theirs.bytes {
            accepted.insert("extensions".into(), json!([BINARY_READ]));
        }
    }
}
