//! Messages of a session, which consist of parts.
//!
//! A message arrives in several events: a `message` event has the parts that are new or have changed, and a
//! [`MessageDelta`] appends text to one part. [`crate::Transcript`] assembles them by the ids of messages and parts.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Author, TurnId};

/// One message, or those parts of it that are new or have changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The id, unique within the session.
    pub id: String,
    /// The role of the speaker.
    pub role: MessageRole,
    /// The author, if it is not the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// The turn that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The tool call that produced it, for messages of a sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_tool_call_id: Option<String>,
    /// Set in events about a message that is older than those in a snapshot. A client that started from a snapshot does not
    /// have the message, and must not append it as a new one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not", alias = "earlier")]
    pub older_than_snapshot: bool,
    /// When its first event was recorded. Transcripts and snapshots have it; in an event it is left out, because the record of
    /// the event has the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// When the last event that changed it was recorded; left out in an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// Its parts, in order.
    pub parts: Vec<MessagePart>,
}

impl Message {
    /// A message with these parts and without optional fields. Name those that you set, and take the rest from here
    /// (`Message { turn_id, ..Message::new(id, role, parts) }`): then a new optional field changes no other producer.
    pub fn new(id: impl Into<String>, role: MessageRole, parts: Vec<MessagePart>) -> Self {
        Self {
            id: id.into(),
            role,
            author: None,
            turn_id: None,
            parent_tool_call_id: None,
            older_than_snapshot: false,
            created_at: None,
            updated_at: None,
            parts,
        }
    }
}

/// The role of the speaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MessageRole {
    /// The user of the agent.
    User,
    /// The agent.
    Assistant,
    /// The program that runs the model.
    System,
    /// A role that this version does not know.
    #[serde(other)]
    Other,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessagePart {
    /// The id, unique within the message.
    pub id: String,
    /// The content.
    #[serde(flatten)]
    pub content: PartContent,
}

/// The content of a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PartContent {
    /// Text, as Markdown.
    Text {
        /// The text.
        text: String,
    },
    /// The agent's reasoning.
    Reasoning {
        /// The text.
        text: String,
    },
    /// A tool call of the agent.
    ToolCall(ToolCall),
    /// The result of a tool call.
    ToolResult(ToolResult),
    /// A file.
    File {
        /// The file name.
        #[serde(default)]
        name: Option<String>,
        /// The media type, such as `text/plain`.
        #[serde(default)]
        mime_type: Option<String>,
        /// A path or URL.
        #[serde(default)]
        uri: Option<String>,
        /// The content, if it is text.
        #[serde(default)]
        text: Option<String>,
    },
    /// An image.
    Image {
        /// The media type, such as `image/png`.
        mime_type: String,
        /// The content in base64.
        #[serde(default)]
        data: Option<String>,
        /// The URL, if the content is not included.
        #[serde(default)]
        uri: Option<String>,
    },
    /// Agent output that could not be parsed. No output of an agent is dropped.
    Unparsed {
        /// The output: JSON if it is valid JSON, otherwise text.
        raw: Value,
        /// Why it could not be parsed.
        error: String,
    },
    /// A part of a newer version, preserved as it was received.
    #[serde(untagged)]
    Unknown(Map<String, Value>),
}

/// A tool call of the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The id, unique within the session; the result refers to it.
    pub call_id: String,
    /// The agent's name of the tool.
    pub name: String,
    /// The kind of tool, for labels and icons.
    pub kind: ToolKind,
    /// A title for people.
    #[serde(default)]
    pub title: Option<String>,
    /// The arguments; `null` while they are not known.
    pub input: Value,
    /// The progress.
    pub status: ToolStatus,
}

/// The kind of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ToolKind {
    /// Reads files.
    Read,
    /// Changes files.
    Edit,
    /// Removes files.
    Delete,
    /// Moves files.
    Move,
    /// Searches.
    Search,
    /// Runs a command.
    Execute,
    /// Plans or reasons.
    Think,
    /// Fetches from the network.
    Fetch,
    /// Asks a person.
    Ask,
    /// Changes the mode, such as from planning to building.
    SwitchMode,
    /// A tool of an MCP server.
    Mcp,
    /// A sub-agent.
    Agent,
    /// Anything else.
    #[serde(other)]
    Other,
}

/// The progress of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ToolStatus {
    /// Its arguments are being written, or it waits for permission.
    Pending,
    /// Running.
    Running,
    /// It returned a result.
    Completed,
    /// It failed.
    Failed,
    /// It was not permitted, or a client interrupted it.
    Cancelled,
    /// A status that this version does not know.
    #[serde(other)]
    Other,
}

/// The result of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call.
    pub call_id: String,
    /// The output as text.
    #[serde(default)]
    pub output: String,
    /// The changes to files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diffs: Vec<FileDiff>,
    /// The exit code, if the tool ran a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether it failed.
    #[serde(default)]
    pub is_error: bool,
}

/// The changes to one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// The file.
    pub path: String,
    /// A unified diff, where the agent reports one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unified: Option<String>,
    /// The text before the change, where the agent reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_text: Option<String>,
    /// The text after the change, where the agent reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_text: Option<String>,
}

/// Text that is appended to one part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageDelta {
    /// The message.
    pub message_id: String,
    /// The part. The first delta of an unknown part creates it.
    pub part_id: String,
    /// The kind of text.
    pub kind: DeltaKind,
    /// The text to append.
    pub text: String,
}

/// The kind of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DeltaKind {
    /// Message text.
    Text,
    /// The agent's reasoning.
    Reasoning,
    /// Output of a running tool, appended to the `output` of its result.
    ToolOutput,
    /// A kind that this version does not know.
    #[serde(other)]
    Other,
}

crate::schema::wire_types! {
    sent: Message;
}
