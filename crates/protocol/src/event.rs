//! The universal vocabulary: what happens in a session, whatever the agent.
//!
//! On the wire an event is an object with one member, named by what happened: `{"message": {…}}`. What a newer peer says
//! beyond this list is kept as it came ([`Event::Unknown`]), so that it survives a way through our own tools.
//!
//! What is written here is kept for as long as its session, and told as it was written. So a field that is added later is one
//! that may be left out of what is written, too: nobody may require it of an event that came before it.

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

/// One event with its place in a session's journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventRecord {
    /// Its place; the first event is 1, and none is left out.
    pub seq: u64,
    /// Its name, unique among all sessions.
    pub id: EventId,
    /// When it was written down.
    pub time: Timestamp,
    /// The session.
    pub session_id: SessionId,
    /// The agent of the session.
    pub agent: AgentName,
    /// What the agent itself calls the session, once it has said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_id: Option<String>,
    /// What happened.
    pub event: Event,
    /// Whether the daemon concluded it and the agent did not say it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub synthetic: bool,
    /// What the agent said in its own words; only where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Event {
    /// The agent's process is there, and it has said who it is.
    Started(AgentStarted),
    /// A message, or those parts of it that are new or have changed.
    Message(Message),
    /// More of one part of a message.
    MessageDelta(MessageDelta),
    /// The agent began to work on something.
    TurnStarted(TurnStarted),
    /// The agent has finished with it, one way or another.
    TurnEnded(TurnEnded),
    /// What became of something that was sent.
    Input(InputReceipt),
    /// Something went wrong.
    Error(AgentError),
    /// A question, or a plan, for a person.
    QuestionAsked(QuestionRequest),
    /// A question was settled.
    QuestionResolved(QuestionResolved),
    /// The agent asks before it does something.
    PermissionAsked(PermissionRequest),
    /// A permission was settled.
    PermissionResolved(PermissionResolved),
    /// What the session is doing.
    Status(SessionStatus),
    /// What the agent means to do, and how far it has come.
    Plan(AgentPlan),
    /// The commands that the agent knows.
    CommandsUpdated(CommandsUpdated),
    /// The session is over.
    Ended(SessionEnded),
    /// What all earlier events come to.
    Snapshot(Box<SessionSnapshot>),
    /// What a newer peer said.
    #[serde(untagged)]
    Unknown(Map<String, Value>),
}

/// The agent's process is there, and it has said who it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentStarted {
    /// The model it uses.
    #[serde(default)]
    pub model: Option<String>,
    /// The mode it is in.
    #[serde(default)]
    pub mode: Option<String>,
    /// The version of the agent.
    #[serde(default)]
    pub version: Option<String>,
    /// Whether it goes on with a conversation of an earlier process.
    #[serde(default)]
    pub resumed: bool,
}

/// The agent began to work on something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnStarted {
    /// The turn.
    pub turn_id: TurnId,
    /// What it works on; none if it began by itself.
    pub input_id: Option<InputId>,
}

/// The agent has finished a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnEnded {
    /// The turn.
    pub turn_id: TurnId,
    /// Why it ended.
    pub reason: TurnEndReason,
    /// What it took, where the agent says so.
    #[serde(default)]
    pub usage: Option<TokenUsage>,
}

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TurnEndReason {
    /// The agent had nothing more to say.
    Completed,
    /// Somebody interrupted it, or the daemon or the agent died.
    Interrupted,
    /// Something went wrong; an `error` event says what.
    Failed,
    /// The model reached its limit of tokens.
    MaxTokens,
    /// The model refused.
    Refused,
    /// A reason that this version does not know.
    #[serde(other)]
    Other,
}

/// What a turn took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenUsage {
    /// Tokens that the model read, without those from a cache.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// Tokens that the model read from a cache.
    pub cached_tokens: u64,
    /// Of those written, how many were thought.
    pub reasoning_tokens: u64,
    /// What it cost in US dollars, where the agent says so.
    pub cost_usd: Option<f64>,
    /// How many tokens the conversation holds now, where the agent says so.
    pub context_tokens: Option<u64>,
    /// How many tokens it can hold.
    pub context_window: Option<u64>,
}

/// What became of something that was sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InputReceipt {
    /// What was sent.
    pub input_id: InputId,
    /// How far it has come.
    pub state: InputState,
    /// Who sent it.
    pub author: Author,
    /// What it says: with `accepted` and `edited`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The turn that it belongs to, once it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
}

/// How far something that was sent has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum InputState {
    /// It is written down, and will be delivered.
    Accepted,
    /// It was changed before it was delivered.
    Edited,
    /// It was handed to the agent.
    Delivered,
    /// The agent works on it, or has.
    Consumed,
    /// It will not be delivered, or the agent did not take it.
    Refused,
    /// It was taken back before it was delivered.
    Withdrawn,
    /// A state that this version does not know.
    #[serde(other)]
    Other,
}

/// A question was settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionResolved {
    /// The question.
    pub id: WaitId,
    /// How.
    pub outcome: QuestionOutcome,
    /// By whom; none if nobody answered.
    pub author: Option<Author>,
}

/// A permission was settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionResolved {
    /// The permission.
    pub id: WaitId,
    /// How.
    pub outcome: PermissionOutcome,
    /// By whom; none if nobody answered.
    pub author: Option<Author>,
}

/// What a session is doing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionStatus {
    /// Where it is.
    pub state: SessionState,
    /// More, for people: that the model is asked again, that the conversation is being shortened, …
    #[serde(default)]
    pub detail: Option<String>,
}

/// What the agent means to do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentPlan {
    /// The steps, in order; they take the place of all that were told before.
    pub steps: Vec<PlanStep>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanStep {
    /// What is to be done.
    pub text: String,
    /// How far it has come.
    pub state: PlanStepState,
}

/// How far a step has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PlanStepState {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
    /// A state that this version does not know.
    #[serde(other)]
    Other,
}

/// The commands that the agent knows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandsUpdated {
    /// All of them.
    pub commands: Vec<AgentCommand>,
}

/// Something that a message may begin with, such as `/review`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: Option<String>,
    /// What is to be written after it.
    #[serde(default)]
    pub hint: Option<String>,
}

/// The session is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionEnded {
    /// Why.
    pub reason: SessionEndReason,
}

/// Why a session is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SessionEndReason {
    /// Somebody deleted it.
    Deleted,
    /// A reason that this version does not know.
    #[serde(other)]
    Other,
}

#[cfg(test)]
mod tests;
