//! Waits: what stops until a person answers.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Author, SessionId, TurnId, WaitId, message::ToolKind};

/// The answer of `GET /v1/waits`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitList {
    /// Every wait that is open, the oldest first.
    pub items: Vec<Wait>,
    /// Always `null`: the list is whole.
    pub next_cursor: Option<String>,
}

/// Something that stops until a person answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    /// Its name; the question's or the permission's too.
    pub id: WaitId,
    /// The session that waits.
    pub session_id: SessionId,
    /// The turn that waits.
    pub turn_id: Option<TurnId>,
    /// What is asked.
    pub ask: WaitRequest,
    /// Since when.
    pub opened_at: Timestamp,
    /// Until when; for ever if none.
    pub expires_at: Option<Timestamp>,
    /// What holds when nobody answers in time.
    pub default: WaitDefault,
    /// How it was settled; none while it is open.
    pub settled: Option<WaitSettlement>,
}

/// What holds when nobody answers in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WaitDefault {
    /// It is not allowed.
    Reject,
}

/// How a wait was settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitSettlement {
    /// How.
    pub outcome: WaitOutcome,
    /// By whom; none if nobody answered.
    pub author: Option<Author>,
    /// When.
    pub at: Timestamp,
}

/// What becomes of the waits of a daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WaitEvent {
    /// All that are open, the oldest first: whatever was known before is forgotten.
    Snapshot {
        /// The waits.
        waits: Vec<Wait>,
    },
    /// Somebody is needed.
    Opened {
        /// For this.
        wait: Box<Wait>,
    },
    /// Nobody is needed any more.
    Settled {
        /// What it was, by whom it was settled and how.
        wait: Box<Wait>,
    },
    /// What a newer peer says.
    #[serde(other)]
    Unknown,
}

/// `POST /v1/waits/{wait_id}`: what a person answers, whatever was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerWaitRequest {
    /// The answer.
    pub answer: WaitAnswer,
    /// Who answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
}

/// What a person answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WaitAnswer {
    /// To a permission.
    Permission(PermissionAnswer),
    /// To a question, or a plan: for each question what was chosen.
    Question(Vec<Vec<String>>),
    /// To anything: no.
    Reject,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WaitRequest {
    /// Whether the agent may do something.
    Permission(PermissionRequest),
    /// What the agent wants to know, or whether its plan is approved.
    Question(QuestionRequest),
}

/// How a wait was settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WaitOutcome {
    /// A permission.
    Permission(PermissionOutcome),
    /// A question.
    Question(QuestionOutcome),
}

/// The agent asks before it does something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest {
    /// Its name, for the reply.
    pub id: WaitId,
    /// The turn that waits.
    pub turn_id: Option<TurnId>,
    /// The tool call that waits, if it is one.
    pub call_id: Option<String>,
    /// The tool, as the agent calls it.
    pub tool: String,
    /// What kind of tool it is.
    pub kind: ToolKind,
    /// What is to be done, for people: the command, the file, …
    pub title: String,
    /// Why, where the agent says so.
    pub reason: Option<String>,
    /// What the tool would be called with.
    pub input: Value,
    /// What `always` would allow, for people; none if the agent does not say.
    pub always: Vec<String>,
}

/// What a reply to a permission says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PermissionAnswer {
    /// This time.
    Once,
    /// This time, and the like from now on in this session.
    Always,
    /// No. The agent is told, and may go on in another way.
    Reject,
}

/// How a permission was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PermissionOutcome {
    /// Allowed this time.
    Once,
    /// Allowed this time, and the like from now on in this session.
    Always,
    /// Not allowed.
    Reject,
    /// Nobody answered in time; it was not allowed.
    Expired,
    /// The agent no longer asks.
    Withdrawn,
}

/// A question, or a plan, for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionRequest {
    /// Its name, for the reply.
    pub id: WaitId,
    /// The turn that waits.
    pub turn_id: Option<TurnId>,
    /// The tool call that waits, if it is one.
    pub call_id: Option<String>,
    /// What is asked, one after the other.
    pub questions: Vec<QuestionItem>,
    /// The plan that is to be approved, as Markdown, if that is the question.
    pub plan: Option<String>,
}

/// One thing that is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionItem {
    /// What is asked.
    pub question: String,
    /// The same in a word or two.
    pub header: Option<String>,
    /// What can be chosen from.
    pub options: Vec<QuestionOption>,
    /// Whether more than one can be chosen.
    pub multiple: bool,
    /// Whether any other text is an answer too.
    pub custom: bool,
}

/// Something that can be chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionOption {
    /// What it is called; this is what an answer says.
    pub label: String,
    /// What it means.
    pub description: Option<String>,
}

/// How a question was settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum QuestionOutcome {
    /// It was answered: for each question what was chosen.
    Answered(Vec<Vec<String>>),
    /// Somebody does not want to answer.
    Rejected,
    /// Nobody answered in time.
    Expired,
    /// The agent no longer asks.
    Withdrawn,
}

/// The label of the answer that approves a plan.
pub const APPROVE: &str = "Approve";

/// The label of the answer that rejects a plan.
pub const REJECT: &str = "Reject";
