//! Wire types of `/api/waits`: the open waits of all runtimes of a hub.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RuntimeId, wait::Wait};

/// The response of `GET /api/waits`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitInbox {
    /// Every open wait, oldest first.
    pub items: Vec<InboxWait>,
    /// The runtimes that did not report their waits in time.
    #[serde(alias = "unavailable")]
    pub unavailable_runtimes: Vec<RuntimeId>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

/// A wait and its runtime.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxWait {
    /// The runtime.
    pub runtime_id: RuntimeId,
    /// The wait.
    #[serde(flatten)]
    pub wait: Wait,
}

/// A change in the open waits of all runtimes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum InboxEvent {
    /// All open waits, oldest first. They replace everything the client knew before.
    Snapshot {
        /// The waits.
        waits: Vec<InboxWait>,
        /// The runtimes whose waits are not known.
        #[serde(alias = "unavailable")]
        unavailable_runtimes: Vec<RuntimeId>,
    },
    /// A wait was opened.
    Opened {
        /// The wait.
        wait: Box<InboxWait>,
    },
    /// A wait was settled.
    Settled {
        /// The wait with its settlement.
        wait: Box<InboxWait>,
    },
    /// A runtime became unreachable: its waits are unknown until it is back.
    Unavailable {
        /// The runtime.
        runtime_id: RuntimeId,
    },
    /// A runtime is reachable again.
    Available {
        /// The runtime.
        runtime_id: RuntimeId,
        /// All open waits of the runtime, oldest first. They replace those that the client knew before.
        waits: Vec<InboxWait>,
    },
    /// An event of a newer version.
    #[serde(other)]
    Unknown,
}

crate::schema::wire_types! {
    sent: WaitInbox, InboxWait, InboxEvent;
}
