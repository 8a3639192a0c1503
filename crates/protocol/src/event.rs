//! Session events in one vocabulary for all agents.
//!
//! On the wire an event is an object whose only member is named after its kind: `{"message": {…}}`. Events of newer versions
//! are preserved as they were received ([`Event::Unknown`]), so that an older hub or client can pass them on.
//!
//! The journal stores events in this form for as long as their session exists, and never rewrites them. So a field that is
//! added later must be optional: events that were written before do not have it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    AgentName, Author, EventId, InputId, Message, SessionId, TurnId, WaitId,
    message::MessageDelta,
    sessions::{AgentError, SessionSnapshot, SessionState},
    wait::{PermissionOutcome, PermissionRequest, QuestionOutcome, QuestionRequest},
};

/// An event with its sequence number in the session's journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventRecord {
    /// The sequence number: 1 for the first event, and one more for each next one.
    pub seq: u64,
    /// The id, unique among all sessions.
    pub id: EventId,
    /// When the daemon recorded it.
    pub time: Timestamp,
    /// The session.
    pub session_id: SessionId,
    /// The agent of the session.
    pub agent: AgentName,
    /// The agent's own id of the session, once known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_id: Option<String>,
    /// The event.
    pub event: Event,
    /// Whether the daemon inferred the event; otherwise the agent reported it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub synthetic: bool,
    /// The agent's original message; only if the client requested raw messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
}

/// The event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Event {
    /// The agent's process is running and has identified itself.
    Started(AgentStarted),
    /// A message, or those parts of it that are new or have changed.
    Message(Message),
    /// Text that is appended to one part of a message.
    MessageDelta(MessageDelta),
    /// A turn started.
    TurnStarted(TurnStarted),
    /// A turn ended.
    TurnEnded(TurnEnded),
    /// The delivery state of an input changed.
    Input(InputReceipt),
    /// An error occurred.
    Error(AgentError),
    /// The agent asks a person a question, or shows a plan for approval.
    QuestionAsked(QuestionRequest),
    /// A question was answered, rejected, expired or withdrawn.
    QuestionResolved(QuestionResolved),
    /// The agent asks for permission to use a tool.
    PermissionAsked(PermissionRequest),
    /// A permission was granted, rejected, expired or withdrawn.
    PermissionResolved(PermissionResolved),
    /// The state of the session changed.
    Status(SessionStatus),
    /// The agent's plan changed.
    Plan(AgentPlan),
    /// The slash commands of the agent changed.
    CommandsUpdated(CommandsUpdated),
    /// The session ended.
    Ended(SessionEnded),
    /// The state after all earlier events.
    Snapshot(Box<SessionSnapshot>),
    /// An event of a newer version, preserved as it was received.
    #[serde(untagged)]
    Unknown(Map<String, Value>),
}

/// The agent's process is running and has identified itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentStarted {
    /// The model in use.
    #[serde(default)]
    pub model: Option<String>,
    /// The mode in use.
    #[serde(default)]
    pub mode: Option<String>,
    /// The version of the agent.
    #[serde(default)]
    pub version: Option<String>,
    /// Whether it resumed the conversation of an earlier process.
    #[serde(default)]
    pub resumed: bool,
}

/// A turn started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnStarted {
    /// The turn.
    pub turn_id: TurnId,
    /// The input that started the turn; `null` if the agent started it on its own.
    pub input_id: Option<InputId>,
}

/// A turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnEnded {
    /// The turn.
    pub turn_id: TurnId,
    /// The reason.
    pub reason: TurnEndReason,
    /// Tokens and cost, where the agent reports them.
    #[serde(default)]
    pub usage: Option<TokenUsage>,
}

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TurnEndReason {
    /// The agent finished its work.
    Completed,
    /// A client interrupted it, or the daemon or the agent died.
    Interrupted,
    /// It failed; an `error` event has the cause.
    Failed,
    /// The model reached its token limit.
    MaxTokens,
    /// The model refused.
    Refused,
    /// A reason that this version does not know.
    #[serde(other)]
    Other,
}

/// Tokens and cost of one turn, or of all turns of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenUsage {
    /// Tokens that the model read, without those from a cache.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// Tokens that the model read from a cache.
    pub cached_tokens: u64,
    /// The tokens written as reasoning, which are included in `outputTokens`.
    pub reasoning_tokens: u64,
    /// The cost in US dollars, where the agent reports it.
    pub cost_usd: Option<f64>,
    /// The tokens in the context window, where the agent reports them.
    pub context_tokens: Option<u64>,
    /// The size of the context window in tokens.
    pub context_window: Option<u64>,
}

/// The delivery state of an input changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InputReceipt {
    /// The input.
    pub input_id: InputId,
    /// The progress.
    pub state: InputState,
    /// The author.
    pub author: Author,
    /// The text; only with `accepted` and `edited`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The turn that it belongs to, once it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
}

/// The delivery state of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum InputState {
    /// The daemon stored it and will deliver it.
    Accepted,
    /// Its text was replaced before delivery.
    Edited,
    /// The daemon passed it to the agent.
    Delivered,
    /// The agent started to work on it.
    Consumed,
    /// It will not be delivered, or the agent rejected it.
    Refused,
    /// Its author withdrew it before delivery.
    Withdrawn,
    /// A state that this version does not know.
    #[serde(other)]
    Other,
}

/// A question was answered, rejected, expired or withdrawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionResolved {
    /// The question.
    pub id: WaitId,
    /// The outcome.
    pub outcome: QuestionOutcome,
    /// The author of the answer; `null` if there was none.
    pub author: Option<Author>,
}

/// A permission was granted, rejected, expired or withdrawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionResolved {
    /// The permission.
    pub id: WaitId,
    /// The outcome.
    pub outcome: PermissionOutcome,
    /// The author of the answer; `null` if there was none.
    pub author: Option<Author>,
}

/// The state of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionStatus {
    /// The life-cycle state.
    pub state: SessionState,
    /// Details for people, such as that a model request is retried or that the conversation is being compacted.
    #[serde(default)]
    pub detail: Option<String>,
}

/// The agent's plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentPlan {
    /// The steps in order. They replace all earlier steps.
    pub steps: Vec<PlanStep>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanStep {
    /// The description of the step.
    pub text: String,
    /// The progress.
    pub state: PlanStepState,
}

/// The progress of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PlanStepState {
    /// Not started.
    Pending,
    /// In progress.
    InProgress,
    /// Completed.
    Completed,
    /// A state that this version does not know.
    #[serde(other)]
    Other,
}

/// The slash commands of the agent changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandsUpdated {
    /// All commands; they replace the earlier ones.
    pub commands: Vec<AgentCommand>,
}

/// A slash command that a message may start with, such as `/review`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentCommand {
    /// Its name, without the slash.
    pub name: String,
    /// The description.
    #[serde(default)]
    pub description: Option<String>,
    /// A hint on the arguments.
    #[serde(default)]
    pub hint: Option<String>,
}

/// The session ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionEnded {
    /// The reason.
    pub reason: SessionEndReason,
}

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SessionEndReason {
    /// A client deleted it.
    Deleted,
    /// A reason that this version does not know.
    #[serde(other)]
    Other,
}

crate::schema::wire_types! {
    sent: EventRecord, Event;
}

#[cfg(test)]
mod tests;
