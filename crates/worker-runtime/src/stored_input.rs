//! The record of an input.

use agent_adapters::Prompt;
use jiff::Timestamp;
use journal::durable::RecordUpdate;
use protocol::{
    Author, IdempotencyKey, InputId, Message, TurnId,
    event::{InputReceipt, InputState},
    message::{MessagePart, MessageRole, PartContent},
    sessions::{MessageAccepted, MessageAttachment, SendMessageRequest, SessionInput},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use telemetry::SpanLink;

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
    /// The request that sent it. A trace does not outlive the process, so it is not stored.
    #[serde(skip)]
    pub(crate) sender: Option<SpanLink>,
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
    pub(crate) fn new(
        input: InputContent,
        key: Option<IdempotencyKey>,
        digest: String,
        sender: Option<SpanLink>,
    ) -> Self {
        Self { version: RecordVersion, input, key, digest, sender, unknown: Map::new() }
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

impl InputContent {
    /// The event that reports its state.
    pub(crate) fn receipt(&self) -> InputReceipt {
        InputReceipt {
            input_id: self.id,
            state: self.state,
            author: self.author.clone(),
            message: None,
            reason: None,
            turn_id: Some(self.turn_id),
        }
    }

    /// The response to the request that sent it.
    pub(crate) fn accepted(&self) -> MessageAccepted {
        MessageAccepted { input_id: self.id, turn_id: self.turn_id, state: self.state }
    }

    /// The prompt for the agent.
    pub(crate) fn to_prompt(&self) -> Prompt {
        Prompt { id: self.id, text: self.message.clone(), attachments: self.attachments.clone() }
    }

    /// The message in the transcript.
    pub(crate) fn to_message(&self) -> Message {
        let text = MessagePart { id: "0".into(), content: PartContent::Text { text: self.message.clone() } };
        let attached = self.attachments.iter().enumerate().map(|(at, attachment)| MessagePart {
            id: (at + 1).to_string(),
            content: part_content(attachment.clone()),
        });
        Message {
            author: Some(self.author.clone()),
            turn_id: Some(self.turn_id),
            ..Message::new(
                self.id.to_string(),
                MessageRole::User,
                std::iter::once(text).chain(attached).collect(),
            )
        }
    }
}

fn part_content(attachment: MessageAttachment) -> PartContent {
    match attachment {
        MessageAttachment::Text { name, text } => {
            PartContent::File { name, mime_type: Some("text/plain".into()), uri: None, text: Some(text) }
        }
        MessageAttachment::File { path } => {
            PartContent::File { name: None, mime_type: None, uri: Some(path), text: None }
        }
        MessageAttachment::Image { mime_type, data } => {
            PartContent::Image { mime_type, data: Some(data), uri: None }
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
