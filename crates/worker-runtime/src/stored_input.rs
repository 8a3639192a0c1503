//! The record of an input.

use jiff::Timestamp;
use journal::durable::RecordUpdate;
use protocol::{
    Author, IdempotencyKey, InputId, TurnId,
    event::InputState,
    sessions::{MessageAttachment, SendMessageRequest, SessionInput},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{record_version::RecordVersion, stored_session::record_update};

/// The kind of the records that hold an input each; the key is the id of the input.
pub(crate) const INPUT: &str = "input";

/// An input, with the idempotency key that its request had.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredInput {
    #[serde(default)]
    version: RecordVersion,
    pub(crate) input: InputContent,
    pub(crate) key: Option<IdempotencyKey>,
    /// The hash of the request, which tells a repetition from a different request with the same key.
    pub(crate) digest: String,
    /// Fields of a newer version, which are written back as they were read.
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// A message to the agent and its delivery state.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InputContent {
    pub(crate) id: InputId,
    pub(crate) turn_id: TurnId,
    pub(crate) author: Author,
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) attachments: Vec<MessageAttachment>,
    pub(crate) state: InputState,
    pub(crate) accepted_at: Timestamp,
    /// Fields of a newer version, which are written back as they were read.
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

impl StoredInput {
    pub(crate) fn new(input: InputContent, key: Option<IdempotencyKey>, digest: String) -> Self {
        Self { version: RecordVersion, input, key, digest, unknown: Map::new() }
    }

    /// The change that writes the record.
    pub(crate) fn update(&self) -> RecordUpdate {
        record_update(INPUT, self.input.id.to_string(), self)
    }
}

impl InputContent {
    /// A new input.
    pub(crate) fn new(request: SendMessageRequest, turn_id: TurnId, author: Author) -> Self {
        let SendMessageRequest { message, attachments, when_busy: _, author: _ } = request;
        Self {
            id: InputId::mint(),
            turn_id,
            author,
            message,
            attachments,
            state: InputState::Accepted,
            accepted_at: Timestamp::now(),
            unknown: Map::new(),
        }
    }
}

impl From<&InputContent> for SessionInput {
    fn from(input: &InputContent) -> Self {
        Self {
            id: input.id,
            turn_id: input.turn_id,
            author: input.author.clone(),
            message: input.message.clone(),
            attachments: input.attachments.clone(),
            state: input.state,
            accepted_at: input.accepted_at,
        }
    }
}
