//! Waits: questions and permissions for which a session waits until a person answers.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Author, SessionId, TurnId, WaitId, message::ToolKind};

/// The response of `GET /v1/waits`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitList {
    /// Every open wait, oldest first.
    pub items: Vec<Wait>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

/// A question or permission that a person must answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    /// The id, which is also that of the question or permission.
    pub id: WaitId,
    /// The session.
    pub session_id: SessionId,
    /// The turn.
    pub turn_id: Option<TurnId>,
    /// The question or permission.
    #[serde(alias = "ask")]
    pub request: WaitRequest,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it expires; `null` if never.
    pub expires_at: Option<Timestamp>,
    /// The answer that is assumed if the wait expires.
    #[serde(alias = "default")]
    pub default_answer: WaitDefault,
    /// How it was settled; `null` while it is open.
    #[serde(alias = "settled")]
    pub settlement: Option<WaitSettlement>,
}

/// The answer that is assumed if a wait expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WaitDefault {
    /// Reject.
    Reject,
}

/// How a wait was settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitSettlement {
    /// The outcome.
    pub outcome: WaitOutcome,
    /// The author of the answer; `null` if there was none.
    pub author: Option<Author>,
    /// When it was settled.
    #[serde(alias = "at")]
    pub settled_at: Timestamp,
}

/// A change in the open waits of a daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WaitEvent {
    /// All open waits, oldest first. They replace everything the client knew before.
    Snapshot {
        /// The waits.
        waits: Vec<Wait>,
    },
    /// A wait was opened.
    Opened {
        /// The wait.
        wait: Box<Wait>,
    },
    /// A wait was settled.
    Settled {
        /// The wait with its settlement.
        wait: Box<Wait>,
    },
    /// An event of a newer version.
    #[serde(other)]
    Unknown,
}

/// The body of `POST /v1/waits/{wait_id}`, for questions and permissions alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerWaitRequest {
    /// The answer.
    pub answer: WaitAnswer,
    /// The author of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WaitAnswer {
    /// The answer to a permission.
    Permission(PermissionAnswer),
    /// The answer to a question or plan: for each question, the labels of the chosen options.
    Question(Vec<Vec<String>>),
    /// Rejects any wait.
    Reject,
}

/// The question or permission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WaitRequest {
    /// The agent asks for permission to use a tool.
    Permission(PermissionRequest),
    /// The agent asks a question, or for approval of its plan.
    Question(QuestionRequest),
}

/// How a wait was settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WaitOutcome {
    /// The outcome of a permission.
    Permission(PermissionOutcome),
    /// The outcome of a question.
    Question(QuestionOutcome),
}

/// A request of the agent for permission to use a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest {
    /// The id, for the reply.
    pub id: WaitId,
    /// The turn.
    pub turn_id: Option<TurnId>,
    /// The tool call that waits, if any.
    pub call_id: Option<String>,
    /// The agent's name of the tool.
    pub tool: String,
    /// The kind of tool.
    pub kind: ToolKind,
    /// A title for people: the command, the file, …
    pub title: String,
    /// The agent's reason, if it gives one.
    pub reason: Option<String>,
    /// The arguments of the tool.
    pub input: Value,
    /// The calls that the answer `always` would allow, for people; empty if unknown.
    #[serde(alias = "always")]
    pub always_allows: Vec<String>,
}

/// An answer to a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PermissionAnswer {
    /// Allow it once.
    Once,
    /// Allow it, and similar calls for the rest of the session.
    Always,
    /// Reject it. The agent may continue in another way.
    Reject,
}

/// How a permission was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PermissionOutcome {
    /// Allowed once.
    Once,
    /// Allowed, with similar calls for the rest of the session.
    Always,
    /// Rejected.
    Reject,
    /// Expired without an answer, and so rejected.
    Expired,
    /// The agent withdrew it.
    Withdrawn,
}

/// A question of the agent, or a plan that it wants approved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionRequest {
    /// The id, for the reply.
    pub id: WaitId,
    /// The turn.
    pub turn_id: Option<TurnId>,
    /// The tool call that waits, if any.
    pub call_id: Option<String>,
    /// The questions, in order.
    pub questions: Vec<QuestionItem>,
    /// The plan to approve, as Markdown.
    pub plan: Option<String>,
}

/// One question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionItem {
    /// The question or permission.
    pub question: String,
    /// A short label.
    pub header: Option<String>,
    /// The options.
    pub options: Vec<QuestionOption>,
    /// Whether several options may be chosen.
    #[serde(alias = "multiple")]
    pub allows_multiple: bool,
    /// Whether free text is accepted as an answer.
    #[serde(alias = "custom")]
    pub allows_custom: bool,
    /// Whether the agent needs an answer: an empty list is refused, unless there is a default answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_required: bool,
    /// The agent's default: labels of options, or text. It is the answer if the list of labels is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub default_answer: Vec<String>,
}

/// An option of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionOption {
    /// The label, which answers refer to.
    pub label: String,
    /// The description.
    pub description: Option<String>,
}

/// How a question was settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum QuestionOutcome {
    /// Answered: for each question, the labels of the chosen options.
    Answered(Vec<Vec<String>>),
    /// A person rejected the question.
    Rejected,
    /// Expired without an answer.
    Expired,
    /// The agent withdrew it.
    Withdrawn,
}

/// The label of the answer that approves a plan.
pub const APPROVE: &str = "Approve";

/// The label of the answer that rejects a plan.
pub const REJECT: &str = "Reject";

crate::schema::wire_types! {
    received: AnswerWaitRequest;
    sent: WaitList, Wait, WaitEvent;
}
