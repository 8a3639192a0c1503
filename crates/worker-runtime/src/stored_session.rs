//! The record of a session, from which a daemon restores it after a restart.
//!
//! It has a type of its own, apart from the request that created the session: requests reject unknown fields, but a record that
//! a newer daemon wrote must stay readable, and must keep its new fields when this daemon writes it again.

use std::path::PathBuf;

use jiff::Timestamp;
use journal::durable::RecordUpdate;
use protocol::{
    AgentName, TurnId,
    event::{AgentCommand, AgentPlan, TokenUsage},
    sessions::{AgentError, CreateSessionRequest, PermissionMode},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::record_version::RecordVersion;

/// The kind of the record. A session has one, with an empty key.
pub(crate) const SESSION: &str = "session";
/// The kind of the records that hold a message of the transcript each.
pub(crate) const MESSAGE: &str = "message";

/// The state of a session between two runs of the daemon, besides its events, messages, inputs and waits.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredSession {
    #[serde(default)]
    version: RecordVersion,
    /// Named `create` on the disk, as in records without a version.
    #[serde(rename = "create")]
    pub(crate) options: StoredOptions,
    /// Whether the session has a file with [`SessionSecrets`](crate::session_secrets::SessionSecrets).
    #[serde(default)]
    pub(crate) has_secrets: bool,
    pub(crate) directory: PathBuf,
    /// The beginning of the first message: the title if the client gave none.
    #[serde(default)]
    pub(crate) first_words: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) agent_session_id: Option<String>,
    pub(crate) usage: TokenUsage,
    pub(crate) error: Option<AgentError>,
    /// How often its agent was started.
    pub(crate) runs: u64,
    /// The turn that was running when this was written.
    pub(crate) turn: Option<TurnId>,
    /// Whether a turn was running, an input was queued or a wait was open when this was written.
    pub(crate) unfinished: bool,
    /// The message records include all events up to this one.
    pub(crate) folded: u64,
    /// The number of message records.
    pub(crate) messages: u64,
    pub(crate) plan: AgentPlan,
    pub(crate) commands: Vec<AgentCommand>,
    /// Fields of a newer version, which are written back as they were read.
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// The choices of the client that created a session, without secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredOptions {
    pub(crate) agent: AgentName,
    pub(crate) agent_mode: String,
    pub(crate) permission_mode: PermissionMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) variant: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent_version: Option<String>,
    /// The directory that the client asked for. [`StoredSession::directory`] is the one that the agent works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) directory: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// Fields of a newer version, which are written back as they were read.
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

impl StoredSession {
    /// A new session.
    pub(crate) fn new(options: StoredOptions, has_secrets: bool, directory: PathBuf) -> Self {
        let now = Timestamp::now();
        Self {
            version: RecordVersion,
            options,
            has_secrets,
            directory,
            first_words: None,
            created_at: now,
            updated_at: now,
            agent_session_id: None,
            usage: TokenUsage::default(),
            error: None,
            runs: 0,
            turn: None,
            unfinished: false,
            folded: 0,
            messages: 0,
            plan: AgentPlan::default(),
            commands: Vec::new(),
            unknown: Map::new(),
        }
    }

    /// Reads a record.
    pub(crate) fn parse(json: &[u8]) -> serde_json::Result<Self> {
        let mut session: Self = serde_json::from_slice(json)?;
        // Records without a version contain it, as every request did. It says nothing about the session, and as an unknown
        // option it would make the same request a different one.
        session.options.unknown.remove("validateToken");
        Ok(session)
    }

    /// The change that writes the record.
    pub(crate) fn update(&self) -> RecordUpdate {
        record_update(SESSION, "", self)
    }
}

impl StoredOptions {
    pub(crate) fn new(request: &CreateSessionRequest) -> Self {
        Self {
            agent: request.agent.clone(),
            agent_mode: request.agent_mode.clone(),
            permission_mode: request.permission_mode,
            model: request.model.clone(),
            variant: request.variant.clone(),
            agent_version: request.agent_version.clone(),
            directory: request.directory.clone(),
            title: request.title.clone(),
            unknown: Map::new(),
        }
    }

    /// Removes the fields that earlier versions stored with the options although they may hold secrets.
    pub(crate) fn take_legacy_secrets(&mut self) -> Map<String, Value> {
        let secret = ["env", "mcp", "skills"];
        secret.into_iter().filter_map(|name| self.unknown.remove_entry(name)).collect()
    }
}

/// The change that writes `value` as a record.
pub(crate) fn record_update(
    kind: &'static str,
    key: impl Into<String>,
    value: &impl Serialize,
) -> RecordUpdate {
    // Serialisation of our own types cannot fail.
    RecordUpdate::put(kind, key, serde_json::to_vec(value).unwrap_or_default())
}

/// The key of the message with this number; keys sort as numbers do.
pub(crate) fn message_key(ordinal: u64) -> String {
    format!("{ordinal:012}")
}

#[cfg(test)]
mod tests;
