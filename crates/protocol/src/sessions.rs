//! Wire types of `/v1/sessions`: conversations with any agent, in one vocabulary.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    AgentName, Author, EventRecord, InputId, Message, SessionId, TurnId,
    agents::AgentCapabilities,
    config::{McpServer, Skill},
    event::{AgentCommand, AgentPlan, InputState, TokenUsage},
    wait::{PermissionAnswer, Wait},
};

/// The body of `POST /v1/sessions/{id}`, which creates a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateSessionRequest {
    /// The agent.
    pub agent: AgentName,
    /// The behaviour of the agent, such as `build` or `plan`; `build` if left out.
    #[serde(default = "build")]
    pub agent_mode: String,
    /// How far the agent may act without asking.
    #[serde(default)]
    pub permission_mode: PermissionMode,
    /// The model; the agent's own choice if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The variant of the model, such as how long it may think.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The API key that the agent uses for its model; for an agent with several providers, that of the provider in `model`. The
    /// daemon holds it in memory only: send it again after a restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Whether to check the key with the model provider before the response is sent.
    #[serde(default)]
    pub validate_token: bool,
    /// The version of the agent to install if it is missing; the version in the catalog if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The working directory of the agent; the daemon's own if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Variables added to the agent's environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// MCP servers in addition to those configured for the directory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp: BTreeMap<String, McpServer>,
    /// Skills in addition to those configured for the directory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skills: BTreeMap<String, Skill>,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

fn build() -> String {
    "build".into()
}

/// How far an agent may act without asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// The agent asks for permission as it does by default.
    #[default]
    Default,
    /// The agent may only read until a person approves its plan.
    Plan,
    /// The agent may do everything without asking.
    Bypass,
}

/// The response of `POST /v1/sessions/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionCreated {
    /// Whether the agent is ready to use.
    pub healthy: bool,
    /// Why the agent is not ready.
    pub error: Option<AgentError>,
    /// The agent's own id of the session, once known.
    pub agent_session_id: Option<String>,
}

/// An error of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AgentError {
    /// The API key is missing, invalid or has no credit left.
    TokenError {
        /// The agent's message.
        message: String,
    },
    /// The agent's process exited.
    ProcessExited {
        /// The exit code, unless a signal ended the process.
        code: Option<i32>,
        /// The signal that ended the process.
        signal: Option<i32>,
        /// The last lines of its standard error.
        stderr: String,
    },
    /// The agent could not be installed.
    InstallFailed {
        /// The cause.
        message: String,
    },
    /// The agent's process could not be started.
    StartFailed {
        /// The cause.
        message: String,
    },
    /// The agent did not respond in time.
    Timeout {
        /// The request that timed out.
        message: String,
    },
    /// The agent does not support a requested feature.
    Unsupported {
        /// The feature.
        feature: String,
        /// Details for people.
        message: String,
    },
    /// The model provider failed: rate limit, overload or refusal.
    ModelError {
        /// The HTTP status of the model provider, where known.
        status: Option<u16>,
        /// The agent's message.
        message: String,
    },
    /// The agent could not resume its conversation and started a new one.
    ResumeFailed {
        /// The cause.
        message: String,
    },
    /// The agent violated its own protocol.
    ProtocolError {
        /// The offending message.
        message: String,
    },
    /// The daemon could not store the agent's output.
    StorageError {
        /// The cause.
        message: String,
    },
    /// Any other error.
    Other {
        /// The agent's message.
        message: String,
    },
    /// An error of a newer version, preserved as it was received.
    #[serde(untagged)]
    Unknown(Map<String, Value>),
}

/// The life-cycle state of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SessionState {
    /// The agent is not running; the next message starts it.
    #[default]
    Dormant,
    /// The agent is being installed or started.
    Starting,
    /// The agent is running and has no turn.
    Idle,
    /// A turn is running.
    Running,
    /// A turn waits for a person.
    Waiting,
    /// The session has ended.
    Ended,
    /// A state that this version does not know.
    #[serde(other)]
    Other,
}

/// The response of `GET /v1/sessions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionList {
    /// The sessions, most recently used first.
    pub items: Vec<Session>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

/// One conversation with an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The id that the client chose.
    pub id: SessionId,
    /// The agent.
    pub agent: AgentName,
    /// The agent's own id of the session, once known.
    pub agent_session_id: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// The behaviour of the agent, such as `build` or `plan`.
    pub agent_mode: String,
    /// How far the agent may act without asking.
    pub permission_mode: PermissionMode,
    /// The requested model.
    pub model: Option<String>,
    /// The requested variant of the model.
    pub variant: Option<String>,
    /// The working directory of the agent.
    pub directory: String,
    /// The life-cycle state.
    pub state: SessionState,
    /// The running turn.
    pub turn_id: Option<TurnId>,
    /// The number of queued inputs.
    #[serde(alias = "queued")]
    pub queued_inputs: u64,
    /// The number of open waits.
    #[serde(alias = "waits")]
    pub open_waits: u64,
    /// The usage of all turns together.
    pub usage: TokenUsage,
    /// The last error, if the last turn ended with one.
    pub error: Option<AgentError>,
    /// The features that the agent supports.
    pub capabilities: AgentCapabilities,
    /// When it was created.
    pub created_at: Timestamp,
    /// When the last event was recorded.
    pub updated_at: Timestamp,
    /// The sequence number of the newest event.
    #[serde(alias = "newest")]
    pub newest_seq: u64,
}

/// The body of `POST /v1/sessions/{id}/messages`, which sends a message to the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendMessageRequest {
    /// The text.
    pub message: String,
    /// Texts, files and images that belong to the message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<MessageAttachment>,
    /// How to treat the message if a turn is running.
    #[serde(default)]
    pub when_busy: WhenBusy,
    /// The author of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
}

/// A text, file or image that belongs to a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum MessageAttachment {
    /// A text.
    Text {
        /// The name to show.
        #[serde(default)]
        name: Option<String>,
        /// The text.
        text: String,
    },
    /// A file in the agent's sandbox.
    File {
        /// The path.
        path: String,
    },
    /// An image.
    Image {
        /// The media type, such as `image/png`.
        mime_type: String,
        /// The content in base64.
        data: String,
    },
}

/// How to treat a message that is sent while a turn is running.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WhenBusy {
    /// Queue it until the running turn ends.
    #[default]
    Queue,
    /// Reject it.
    Reject,
    /// Pass it to the agent within the running turn, if the agent supports steering.
    Steer,
}

/// The response of `POST /v1/sessions/{id}/messages`: the message is stored and will be delivered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageAccepted {
    /// Its id.
    pub input_id: InputId,
    /// The turn that it belongs to.
    pub turn_id: TurnId,
    /// The delivery state.
    pub state: InputState,
}

/// The body of `PUT /v1/sessions/{id}/inputs/{input_id}`, which replaces the text of a queued message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditInputRequest {
    /// The new text.
    pub message: String,
    /// The author of the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
}

/// A message that was sent to a session, with its delivery state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionInput {
    /// Its id.
    pub id: InputId,
    /// The turn that it belongs to.
    pub turn_id: TurnId,
    /// The author.
    pub author: Author,
    /// The text.
    pub message: String,
    /// Texts, files and images that belong to the message.
    #[serde(default)]
    pub attachments: Vec<MessageAttachment>,
    /// The delivery state.
    pub state: InputState,
    /// When the daemon accepted it.
    pub accepted_at: Timestamp,
}

/// The response of `GET /v1/sessions/{id}/inputs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionInputList {
    /// The queued messages, in the order in which they will be delivered.
    pub items: Vec<SessionInput>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

/// The response of `GET /v1/sessions/{id}/events`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventPage {
    /// The events after `offset`.
    pub events: Vec<EventRecord>,
    /// Whether more events are available.
    pub has_more: bool,
}

/// The response of `GET /v1/sessions/{id}/messages`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptPage {
    /// The messages, in order.
    pub items: Vec<Message>,
    /// Pass it as `cursor` for the next page; `null` on the last one.
    pub next_cursor: Option<String>,
    /// The sequence number of the newest event that these messages include.
    pub seq: u64,
}

/// The body of `POST /v1/sessions/{id}/questions/{question_id}/reply`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerQuestionRequest {
    /// For each question, the labels of the chosen options.
    pub answers: Vec<Vec<String>>,
    /// The author of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
}

/// The body of `POST /v1/sessions/{id}/questions/{question_id}/reject`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RejectQuestionRequest {
    /// The author of the rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
}

/// The body of `POST /v1/sessions/{id}/permissions/{permission_id}/reply`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerPermissionRequest {
    /// The answer.
    pub reply: PermissionAnswer,
    /// The author of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
}

/// The state of a session after all events up to `seq`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionSnapshot {
    /// The sequence number of the last event that it includes.
    pub seq: u64,
    /// The session.
    pub session: Session,
    /// The last messages, including the parts so far of one that is still being written.
    pub messages: Vec<Message>,
    /// Whether earlier messages exist.
    pub has_earlier: bool,
    /// The open waits.
    pub waits: Vec<Wait>,
    /// The queued inputs.
    pub inputs: Vec<SessionInput>,
    /// The agent's plan.
    pub plan: AgentPlan,
    /// The slash commands that the agent offers.
    pub commands: Vec<AgentCommand>,
}

crate::schema::wire_types! {
    received: CreateSessionRequest, SendMessageRequest, EditInputRequest, AnswerQuestionRequest,
        RejectQuestionRequest, AnswerPermissionRequest;
    sent: SessionCreated, SessionList, Session, MessageAccepted, SessionInput, SessionInputList, EventPage,
        TranscriptPage, SessionSnapshot;
}
