//! `/api/waits`: what waits for a person in all runtimes of a hub.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RuntimeId, wait::Wait};

/// The answer of `GET /api/waits`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitInbox {
    /// Every wait that is open, the oldest first.
    pub items: Vec<InboxWait>,
    /// The runtimes that did not say in time what waits in them.
    pub unavailable: Vec<RuntimeId>,
    /// Always `null`: the list is whole.
    pub next_cursor: Option<String>,
}

/// A wait, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxWait {
    /// The runtime that it is of.
    pub runtime_id: RuntimeId,
    /// The wait itself.
    #[serde(flatten)]
    pub wait: Wait,
}

/// What becomes of the waits of all runtimes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum InboxEvent {
    /// All that are open, the oldest first: whatever was known before is forgotten.
    Snapshot {
        /// The waits.
        waits: Vec<InboxWait>,
        /// The runtimes of which it is not known what waits in them.
        unavailable: Vec<RuntimeId>,
    },
    /// Somebody is needed.
    Opened {
        /// For this.
        wait: Box<InboxWait>,
    },
    /// Nobody is needed any more.
    Settled {
        /// What it was, by whom it was settled and how.
        wait: Box<InboxWait>,
    },
    /// A runtime has gone away: what waits in it is not known until it is back.
    Unavailable {
        /// Which.
        runtime_id: RuntimeId,
    },
    /// A runtime is back.
    Available {
        /// Which.
        runtime_id: RuntimeId,
        /// All that are open in it, the oldest first: whatever was known of it before is forgotten.
        waits: Vec<InboxWait>,
    },
    /// What a newer peer says.
    #[serde(other)]
    Unknown,
}
