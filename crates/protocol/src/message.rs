//! What is said in a session: messages made of parts.
//!
//! A message comes in pieces: an event holds the parts that are new or have changed, and a [`MessageDelta`] more of one part.
//! Parts have ids, so that pieces can be put together in any number of steps ([`crate::Transcript`]).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Author, TurnId};

/// One message, or those parts of it that are new or have changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Its name within the session.
    pub id: String,
    /// Who speaks.
    pub role: MessageRole,
    /// Who wrote it, if a person or program other than the agent did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// The turn that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The tool call of whose inner life it is part, such as that of an agent which the agent started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_tool_call_id: Option<String>,
    /// Whether it is not among the last messages, of which a snapshot is made: who began with a snapshot and does not know
    /// it has no place for it. In events only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub earlier: bool,
    /// Its parts, in order.
    pub parts: Vec<MessagePart>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MessageRole {
    /// Whoever uses the agent.
    User,
    /// The agent.
    Assistant,
    /// The program around the model.
    System,
    /// Somebody whom this version does not know.
    #[serde(other)]
    Other,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessagePart {
    /// Its name within the message.
    pub id: String,
    /// What it is.
    #[serde(flatten)]
    pub content: PartContent,
}

/// What a part is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PartContent {
    /// Text, as Markdown.
    Text {
        /// The text.
        text: String,
    },
    /// What the agent thinks.
    Reasoning {
        /// The text.
        text: String,
    },
    /// The agent uses a tool.
    ToolCall(ToolCall),
    /// What a tool gave.
    ToolResult(ToolResult),
    /// A file.
    File {
        /// What it is called.
        #[serde(default)]
        name: Option<String>,
        /// Its type, such as `text/plain`.
        #[serde(default)]
        mime_type: Option<String>,
        /// Where it is: a path or a URL.
        #[serde(default)]
        uri: Option<String>,
        /// What is in it, if it is text.
        #[serde(default)]
        text: Option<String>,
    },
    /// A picture.
    Image {
        /// Its type, such as `image/png`.
        mime_type: String,
        /// What is in it, in base64.
        #[serde(default)]
        data: Option<String>,
        /// Where it is, if not here.
        #[serde(default)]
        uri: Option<String>,
    },
    /// What the agent said and we did not understand. Nothing that an agent says is dropped.
    Unparsed {
        /// What it said: JSON if it was that, and text otherwise.
        raw: Value,
        /// Why it was not understood.
        error: String,
    },
    /// What a newer peer said.
    #[serde(untagged)]
    Unknown(Map<String, Value>),
}

/// The agent uses a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Its name within the session; its result refers to it.
    pub call_id: String,
    /// The tool, as the agent calls it.
    pub name: String,
    /// What kind of tool it is, for people and pictures.
    pub kind: ToolKind,
    /// What it does, for people.
    #[serde(default)]
    pub title: Option<String>,
    /// What it is called with; `null` while that is not known.
    pub input: Value,
    /// How far it has come.
    pub status: ToolStatus,
}

/// What kind of tool it is.
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
    /// Looks for something.
    Search,
    /// Runs a command.
    Execute,
    /// Thinks.
    Think,
    /// Gets something from the network.
    Fetch,
    /// Asks a person.
    Ask,
    /// Changes the mode, such as from planning to building.
    SwitchMode,
    /// A tool of an MCP server.
    Mcp,
    /// An agent of its own.
    Agent,
    /// Anything else.
    #[serde(other)]
    Other,
}

/// How far a tool call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ToolStatus {
    /// It is being written, or waits for permission.
    Pending,
    /// It runs.
    Running,
    /// It has given a result.
    Completed,
    /// It has failed.
    Failed,
    /// It was not allowed, or somebody interrupted it.
    Cancelled,
    /// A status that this version does not know.
    #[serde(other)]
    Other,
}

/// What a tool gave.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call.
    pub call_id: String,
    /// What it gave, as text.
    #[serde(default)]
    pub output: String,
    /// What it changed in files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diffs: Vec<FileDiff>,
    /// How the command ended, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether it failed.
    #[serde(default)]
    pub is_error: bool,
}

/// What was changed in one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// The file.
    pub path: String,
    /// The change in the unified format, where the agent gives it so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unified: Option<String>,
    /// What was there before, where the agent gives that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_text: Option<String>,
    /// What is there now, where the agent gives that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_text: Option<String>,
}

/// More of one part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageDelta {
    /// The message.
    pub message_id: String,
    /// The part; it begins with its first delta, if it was not told before.
    pub part_id: String,
    /// What there is more of.
    pub kind: DeltaKind,
    /// How it goes on.
    pub text: String,
}

/// What there is more of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DeltaKind {
    /// A text.
    Text,
    /// What the agent thinks.
    Reasoning,
    /// What a running tool gives: it is added to the `output` of a tool result.
    ToolOutput,
    /// A kind that this version does not know.
    #[serde(other)]
    Other,
}
