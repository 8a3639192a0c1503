//! `/v1/sessions`: conversations with any agent, in one vocabulary.

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

/// `POST /v1/sessions/{id}`: a new session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateSessionRequest {
    /// The agent.
    pub agent: AgentName,
    /// How the agent behaves; `build` if left out.
    #[serde(default = "build")]
    pub agent_mode: String,
    /// What the agent may do.
    #[serde(default)]
    pub permission_mode: PermissionMode,
    /// The model; the agent's own choice if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The variant of the model, such as how long it may think.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The agent's key to its model. It is kept in memory only: after a restart of the daemon it must be given again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Whether to find out at once whether the agent can use its model.
    #[serde(default)]
    pub validate_token: bool,
    /// The version of the agent to install if it is missing; the one that was tested if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The directory that the agent works in; the daemon's own if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Variables added to the agent's environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// MCP servers besides those that are configured for the directory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp: BTreeMap<String, McpServer>,
    /// Skills besides those that are configured for the directory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skills: BTreeMap<String, Skill>,
    /// What the session is called, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

fn build() -> String {
    "build".into()
}

/// What an agent may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// It asks where it would by itself.
    #[default]
    Default,
    /// It only reads until its plan is approved.
    Plan,
    /// Everything, without asking.
    Bypass,
}

/// What came of creating a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionCreated {
    /// Whether the agent can be used.
    pub healthy: bool,
    /// Why not.
    pub error: Option<AgentError>,
    /// What the agent itself calls the session, if it has said so.
    pub agent_session_id: Option<String>,
}

/// What went wrong with an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AgentError {
    /// Its key is missing, wrong or spent.
    TokenError {
        /// What it said.
        message: String,
    },
    /// Its process has ended.
    ProcessExited {
        /// The exit code, unless a signal ended it.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// The last it wrote to standard error.
        stderr: String,
    },
    /// It could not be installed.
    InstallFailed {
        /// Why.
        message: String,
    },
    /// Its process could not be started.
    StartFailed {
        /// Why.
        message: String,
    },
    /// It did not answer in time.
    Timeout {
        /// What it was asked.
        message: String,
    },
    /// It cannot do what it was asked for.
    Unsupported {
        /// What that is.
        feature: String,
        /// More, for people.
        message: String,
    },
    /// Its model could not be used: too many requests, an overload, a refusal.
    ModelError {
        /// The status that the model's server answered with, where it is known.
        status: Option<u16>,
        /// What it said.
        message: String,
    },
    /// It could not go on with its earlier conversation, and has begun a new one.
    ResumeFailed {
        /// Why.
        message: String,
    },
    /// It said something that is not of its protocol.
    ProtocolError {
        /// What it was.
        message: String,
    },
    /// The daemon could not keep what the agent said.
    StorageError {
        /// Why.
        message: String,
    },
    /// Something else.
    Other {
        /// What it said.
        message: String,
    },
    /// What a newer peer said.
    #[serde(untagged)]
    Unknown(Map<String, Value>),
}

/// Where a session is in its life.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SessionState {
    /// Its agent does not run; the next message starts it.
    #[default]
    Dormant,
    /// Its agent is being installed or started.
    Starting,
    /// Its agent has nothing to do.
    Idle,
    /// A turn runs.
    Running,
    /// A turn waits for a person.
    Waiting,
    /// It is over.
    Ended,
    /// A state that this version does not know.
    #[serde(other)]
    Other,
}

/// The answer of `GET /v1/sessions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionList {
    /// The sessions, the one that was used last first.
    pub items: Vec<Session>,
    /// Always `null`: the list is whole.
    pub next_cursor: Option<String>,
}

/// One conversation with an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The client's name for it.
    pub id: SessionId,
    /// The agent.
    pub agent: AgentName,
    /// What the agent itself calls the session, once it has said so.
    pub agent_session_id: Option<String>,
    /// What it is called, for people.
    pub title: Option<String>,
    /// How the agent behaves.
    pub agent_mode: String,
    /// What the agent may do.
    pub permission_mode: PermissionMode,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The variant of the model that was asked for.
    pub variant: Option<String>,
    /// The directory that the agent works in.
    pub directory: String,
    /// Where it is in its life.
    pub state: SessionState,
    /// The turn that runs.
    pub turn_id: Option<TurnId>,
    /// How many inputs wait for their turn.
    pub queued: u64,
    /// How many waits are open.
    pub waits: u64,
    /// What all turns took together.
    pub usage: TokenUsage,
    /// The last error, if the last turn ended with one.
    pub error: Option<AgentError>,
    /// What the agent can do.
    pub capabilities: AgentCapabilities,
    /// When it was created.
    pub created_at: Timestamp,
    /// When something last happened.
    pub updated_at: Timestamp,
    /// The place of its newest event.
    pub newest: u64,
}

/// `POST /v1/sessions/{id}/messages`: something for the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendMessageRequest {
    /// What it says.
    pub message: String,
    /// What goes with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<MessageAttachment>,
    /// What to do while a turn runs.
    #[serde(default)]
    pub when_busy: WhenBusy,
    /// Who says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
}

/// Something that goes with a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum MessageAttachment {
    /// A text.
    Text {
        /// What it is called.
        #[serde(default)]
        name: Option<String>,
        /// The text.
        text: String,
    },
    /// A file on the machine of the agent.
    File {
        /// Where it is.
        path: String,
    },
    /// A picture.
    Image {
        /// Its type, such as `image/png`.
        mime_type: String,
        /// What is in it, in base64.
        data: String,
    },
}

/// What to do with a message while a turn runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WhenBusy {
    /// It waits for its turn.
    #[default]
    Queue,
    /// It is refused.
    Reject,
    /// It is told to the agent at once, as far as the agent can be told.
    Steer,
}

/// A message that was written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageAccepted {
    /// Its name.
    pub input_id: InputId,
    /// The turn that it belongs to.
    pub turn_id: TurnId,
    /// How far it has come.
    pub state: InputState,
}

/// `PUT /v1/sessions/{id}/inputs/{input_id}`: what is to be said instead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditInputRequest {
    /// What it is to say.
    pub message: String,
    /// Who changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
}

/// Something that was sent and has not been delivered, or has been.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionInput {
    /// Its name.
    pub id: InputId,
    /// The turn that it belongs to.
    pub turn_id: TurnId,
    /// Who sent it.
    pub author: Author,
    /// What it says.
    pub message: String,
    /// What goes with it.
    #[serde(default)]
    pub attachments: Vec<MessageAttachment>,
    /// How far it has come.
    pub state: InputState,
    /// When it came.
    pub accepted_at: Timestamp,
}

/// The answer of `GET /v1/sessions/{id}/inputs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionInputList {
    /// What waits for its turn, in that order.
    pub items: Vec<SessionInput>,
    /// Always `null`: the list is whole.
    pub next_cursor: Option<String>,
}

/// The answer of `GET /v1/sessions/{id}/events`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventPage {
    /// The events after `offset`.
    pub events: Vec<EventRecord>,
    /// Whether there are more by now.
    pub has_more: bool,
}

/// The answer of `GET /v1/sessions/{id}/messages`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptPage {
    /// The messages, in order.
    pub items: Vec<Message>,
    /// Where to go on, if there are more.
    pub next_cursor: Option<String>,
    /// The place of the newest event that is in them.
    pub seq: u64,
}

/// `POST /v1/sessions/{id}/questions/{question_id}/reply`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerQuestionRequest {
    /// For each question what was chosen.
    pub answers: Vec<Vec<String>>,
    /// Who answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
}

/// `POST /v1/sessions/{id}/questions/{question_id}/reject`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RejectQuestionRequest {
    /// Who does not want to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
}

/// `POST /v1/sessions/{id}/permissions/{permission_id}/reply`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerPermissionRequest {
    /// The answer.
    pub reply: PermissionAnswer,
    /// Who answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
}

/// What all events of a session up to one come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionSnapshot {
    /// The place of the last event that it covers.
    pub seq: u64,
    /// The session.
    pub session: Session,
    /// The last messages, with what there is of one that is being said.
    pub messages: Vec<Message>,
    /// Whether there are messages before these.
    pub has_earlier: bool,
    /// What waits for a person.
    pub waits: Vec<Wait>,
    /// What waits for its turn.
    pub inputs: Vec<SessionInput>,
    /// What the agent means to do.
    pub plan: AgentPlan,
    /// The commands that the agent knows.
    pub commands: Vec<AgentCommand>,
}
