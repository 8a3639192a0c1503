//! Events of the server's stream.

use protocol::event::PlanStepState;
use serde::Deserialize;
use serde_json::Value;

use super::{
    wire_message::{MessageInfo, OpencodePart},
    wire_request::{PermissionAsked, QuestionAsked},
    wire_session::{OpencodeError, SessionInfo},
};
use crate::lenient;

/// Events that contain nothing a reader needs, or that repeat what another event contains.
const IGNORED: [&str; 11] = [
    "command.executed",
    "message.part.removed",
    "message.removed",
    "session.compacted",
    "session.deleted",
    "session.diff",
    "session.updated",
    "permission.v2.asked",
    "permission.v2.replied",
    "question.v2.asked",
    "question.v2.replied",
];

/// The prefix of events of an interface that we do not use. They repeat other events.
const NEXT: &str = "session.next.";

/// An event whose properties are not parsed yet: most events belong to other sessions.
#[derive(Debug)]
pub(super) struct OpencodeEventEnvelope {
    kind: String,
    properties: Value,
}

/// A line of the stream. The stream of all directories wraps the events of each directory in `payload`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct StreamLine {
    payload: Value,
    #[serde(rename = "type")]
    kind: Value,
    properties: Value,
}

impl OpencodeEventEnvelope {
    /// Parses a line. The error describes why it is no event.
    pub(super) fn parse(line: &[u8]) -> Result<Self, &'static str> {
        let line = serde_json::from_slice(line).ok().filter(Value::is_object).ok_or("not a JSON object")?;
        let mut event: StreamLine = serde_json::from_value(line).unwrap_or_default();
        if !event.payload.is_null() {
            event = serde_json::from_value(event.payload).unwrap_or_default();
        }
        match event {
            StreamLine { kind: Value::String(kind), properties: properties @ Value::Object(_), .. } => {
                Ok(Self { kind, properties })
            }
            _ => Err("an event without a type or properties"),
        }
    }

    /// The session of a `session.created`.
    pub(super) fn created_session(&self) -> Option<SessionInfo> {
        (self.kind == "session.created").then(|| lenient::object::<SessionNotice>(&self.properties).info)
    }

    /// The session that the event belongs to.
    pub(super) fn session_id(&self) -> Option<String> {
        lenient::object::<EventScope>(&self.properties).session_id
    }

    /// Parses the properties. A field of an unexpected type counts as missing.
    pub(super) fn into_event(self) -> OpencodeEvent {
        OpencodeEvent::parse(&self.kind, self.properties)
    }
}

/// An event of a session.
#[derive(Debug)]
pub(super) enum OpencodeEvent {
    MessageUpdated(MessageInfo),
    PartUpdated(OpencodePart),
    PartDelta(PartDelta),
    PermissionAsked(PermissionAsked),
    QuestionAsked(QuestionAsked),
    /// A permission or a question was answered.
    RequestSettled {
        request_id: Option<String>,
    },
    TodosUpdated(Vec<OpencodeTodo>),
    StatusChanged(OpencodeStatus),
    Idle,
    Error(OpencodeError),
    Ignored,
    /// An event or a part that this version does not know.
    Unknown,
}

impl OpencodeEvent {
    fn parse(kind: &str, properties: Value) -> Self {
        match kind {
            "message.updated" => Self::MessageUpdated(lenient::object::<MessageNotice>(&properties).info),
            "message.part.updated" => {
                let PartNotice { part } = serde_json::from_value(properties).unwrap_or_default();
                OpencodePart::parse(&part).map_or(Self::Unknown, Self::PartUpdated)
            }
            "message.part.delta" => Self::PartDelta(lenient::object(&properties)),
            "permission.asked" => Self::PermissionAsked(lenient::object(&properties)),
            "question.asked" => Self::QuestionAsked(lenient::object(&properties)),
            "permission.replied" | "question.replied" | "question.rejected" => {
                let SettledNotice { request_id } = lenient::object(&properties);
                Self::RequestSettled { request_id }
            }
            "todo.updated" => {
                let TodoNotice { todos } = lenient::object(&properties);
                Self::TodosUpdated(todos.iter().map(lenient::object).collect())
            }
            "session.status" => Self::StatusChanged(lenient::object::<StatusChange>(&properties).status),
            "session.idle" => Self::Idle,
            "session.error" => Self::Error(lenient::object::<SessionFailure>(&properties).error),
            _ if IGNORED.contains(&kind) || kind.starts_with(NEXT) => Self::Ignored,
            _ => Self::Unknown,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EventScope {
    #[serde(rename = "sessionID")]
    session_id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SessionNotice {
    #[serde(deserialize_with = "lenient::field")]
    info: SessionInfo,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageNotice {
    #[serde(deserialize_with = "lenient::field")]
    info: MessageInfo,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PartNotice {
    part: Value,
}

/// More of a text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PartDelta {
    #[serde(rename = "messageID")]
    pub(super) message_id: Option<String>,
    #[serde(rename = "partID")]
    pub(super) part_id: Option<String>,
    pub(super) field: Option<String>,
    pub(super) delta: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SettledNotice {
    #[serde(rename = "requestID")]
    request_id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TodoNotice {
    /// An [`OpencodeTodo`] for each step.
    #[serde(deserialize_with = "lenient::list")]
    todos: Vec<Value>,
}

/// A step of the agent's plan.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OpencodeTodo {
    pub(super) content: Option<String>,
    status: Option<TodoStatus>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TodoStatus {
    Pending,
    InProgress,
    Completed,
    #[serde(other)]
    Other,
}

impl OpencodeTodo {
    pub(super) fn state(&self) -> PlanStepState {
        match self.status {
            Some(TodoStatus::Pending) => PlanStepState::Pending,
            Some(TodoStatus::InProgress) => PlanStepState::InProgress,
            Some(TodoStatus::Completed) => PlanStepState::Completed,
            Some(TodoStatus::Other) | None => PlanStepState::Other,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StatusChange {
    #[serde(deserialize_with = "lenient::field")]
    status: OpencodeStatus,
}

/// The status of a session.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OpencodeStatus {
    #[serde(rename = "type")]
    pub(super) kind: Option<OpencodeStatusKind>,
    /// Why the request to the model is retried.
    pub(super) message: Option<String>,
    /// The number of the retry.
    pub(super) attempt: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum OpencodeStatusKind {
    Busy,
    Retry,
    /// Idle, which an event of its own reports, or a status that this version does not know.
    #[serde(other)]
    Other,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SessionFailure {
    #[serde(deserialize_with = "lenient::field")]
    error: OpencodeError,
}
