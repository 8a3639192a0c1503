//! The record of a wait.

use jiff::Timestamp;
use journal::durable::RecordUpdate;
use protocol::{
    SessionId, TurnId, WaitId,
    wait::{Wait, WaitDefault, WaitRequest, WaitSettlement},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{record_version::RecordVersion, stored_session::record_update};

/// The kind of the records that hold a wait each; the key is the id of the wait.
pub(crate) const WAIT: &str = "wait";

/// A wait, with the key by which the adapter of the agent knows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredWait {
    #[serde(default)]
    version: RecordVersion,
    pub(crate) wait: WaitContent,
    pub(crate) key: String,
    /// Fields of a newer version, which are written back as they were read.
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// A question or permission and its settlement. The aliases are names that release 0.1.0 wrote.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WaitContent {
    pub(crate) id: WaitId,
    session_id: SessionId,
    turn_id: Option<TurnId>,
    #[serde(alias = "ask")]
    pub(crate) request: WaitRequest,
    opened_at: Timestamp,
    pub(crate) expires_at: Option<Timestamp>,
    #[serde(alias = "default")]
    default_answer: WaitDefault,
    #[serde(alias = "settled")]
    pub(crate) settlement: Option<WaitSettlement>,
    /// Fields of a newer version, which are written back as they were read.
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

impl StoredWait {
    pub(crate) fn new(wait: Wait, key: String) -> Self {
        let Wait { id, session_id, turn_id, request, opened_at, expires_at, default_answer, settlement } =
            wait;
        let wait = WaitContent {
            id,
            session_id,
            turn_id,
            request,
            opened_at,
            expires_at,
            default_answer,
            settlement,
            unknown: Map::new(),
        };
        Self { version: RecordVersion, wait, key, unknown: Map::new() }
    }

    /// The change that writes the record.
    pub(crate) fn update(&self) -> RecordUpdate {
        record_update(WAIT, self.wait.id.to_string(), self)
    }
}

impl From<&WaitContent> for Wait {
    fn from(wait: &WaitContent) -> Self {
        Self {
            id: wait.id,
            session_id: wait.session_id.clone(),
            turn_id: wait.turn_id,
            request: wait.request.clone(),
            opened_at: wait.opened_at,
            expires_at: wait.expires_at,
            default_answer: wait.default_answer,
            settlement: wait.settlement.clone(),
        }
    }
}
