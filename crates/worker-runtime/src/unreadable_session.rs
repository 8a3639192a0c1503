//! How a session appears in the list when its record cannot be read.

use jiff::Timestamp;
use protocol::{
    SessionId,
    event::TokenUsage,
    sessions::{AgentError, Session, SessionState},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Error, error::chain};

/// The agent of a session whose record does not even name it.
const UNKNOWN_AGENT: &str = "unknown";

/// Describes a session with the fields of its record that can be read, and `error`.
pub(crate) fn describe_unreadable(
    id: &SessionId,
    record: &[u8],
    error: &Error,
    newest_seq: u64,
) -> Result<Session, Error> {
    let record: Value = serde_json::from_slice(record).unwrap_or_default();
    let agent = match field(&record, "/create/agent") {
        Some(agent) => agent,
        None => UNKNOWN_AGENT.parse().map_err(|_| Error::Damaged(id.clone()))?,
    };
    Ok(Session {
        id: id.clone(),
        agent,
        agent_session_id: field(&record, "/agentSessionId"),
        title: field(&record, "/create/title").or_else(|| field(&record, "/firstWords")),
        agent_mode: field(&record, "/create/agentMode").unwrap_or_default(),
        permission_mode: field(&record, "/create/permissionMode").unwrap_or_default(),
        model: field(&record, "/create/model"),
        variant: field(&record, "/create/variant"),
        directory: field(&record, "/directory").unwrap_or_default(),
        state: SessionState::Dormant,
        turn_id: None,
        queued_inputs: 0,
        open_waits: 0,
        usage: field(&record, "/usage").unwrap_or_else(TokenUsage::default),
        error: Some(AgentError::StorageError { message: chain(error) }),
        capabilities: Default::default(),
        created_at: field(&record, "/createdAt").unwrap_or(Timestamp::UNIX_EPOCH),
        updated_at: field(&record, "/updatedAt").unwrap_or(Timestamp::UNIX_EPOCH),
        newest_seq,
    })
}

/// The value at a JSON pointer, if it is there and of the expected type.
fn field<T: DeserializeOwned>(record: &Value, pointer: &str) -> Option<T> {
    serde_json::from_value(record.pointer(pointer)?.clone()).ok()
}
