//! What is kept of a session beside its events: notes, by kind.

use std::path::PathBuf;

use jiff::Timestamp;
use journal::durable::RecordUpdate;
use protocol::{
    IdempotencyKey, TurnId,
    event::{AgentCommand, AgentPlan, TokenUsage},
    sessions::{AgentError, CreateSessionRequest, SessionInput},
    wait::Wait,
};
use serde::{Deserialize, Serialize};
use telemetry::SpanLink;

/// The kind of the one note that says what a session is.
pub(crate) const SESSION: &str = "session";
/// The kind of the notes that hold a message each.
pub(crate) const MESSAGE: &str = "message";
/// The kind of the notes that hold an input each.
pub(crate) const INPUT: &str = "input";
/// The kind of the notes that hold a wait each.
pub(crate) const WAIT: &str = "wait";

/// What a session is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Kept {
    /// How it was created, without the token and without [`SessionSecrets`](crate::session_secrets::SessionSecrets).
    pub(crate) create: CreateSessionRequest,
    /// Whether the session has a file of secrets.
    #[serde(default)]
    pub(crate) has_secrets: bool,
    pub(crate) directory: PathBuf,
    /// The beginning of the first message, which is the title if the client gave none.
    #[serde(default)]
    pub(crate) first_words: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) agent_session_id: Option<String>,
    pub(crate) usage: TokenUsage,
    pub(crate) error: Option<AgentError>,
    /// How often its agent was started.
    pub(crate) runs: u64,
    /// The turn that ran when this was written.
    pub(crate) turn: Option<TurnId>,
    /// Whether a turn ran, an input waited or a person was waited for.
    pub(crate) unfinished: bool,
    /// Notes hold all messages as they were at this event …
    pub(crate) folded: u64,
    /// … and there are so many.
    pub(crate) messages: u64,
    pub(crate) plan: AgentPlan,
    pub(crate) commands: Vec<AgentCommand>,
}

/// An input, and under which key it came.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeptInput {
    pub(crate) input: SessionInput,
    pub(crate) key: Option<IdempotencyKey>,
    /// Of what came with the key.
    pub(crate) digest: String,
    /// The request that sent it. Traces do not outlive the process, so it is not stored.
    #[serde(skip)]
    pub(crate) sender: Option<SpanLink>,
}

/// A wait, and what the agent's adapter calls it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeptWait {
    pub(crate) wait: Wait,
    pub(crate) key: String,
}

/// A note that says `value`.
pub(crate) fn note(kind: &'static str, key: impl Into<String>, value: &impl Serialize) -> RecordUpdate {
    // What is kept always can be serialised.
    RecordUpdate::put(kind, key, serde_json::to_vec(value).unwrap_or_default())
}

/// The key of the message with this number; keys sort as numbers do.
pub(crate) fn message_key(ordinal: u64) -> String {
    format!("{ordinal:012}")
}
