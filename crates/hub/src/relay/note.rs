//! What is answered at once, and so has one entry in the ledger: what a device asks of the hub, and what nobody can ask of a
//! device.

use jiff::Timestamp;
use protocol::{
    AuditId,
    relay::{
        ClientId, MethodInfo, PolicyDecision, RelayAuditEntry, RelayContext, RelayError, RelayErrorCode,
        RequestStatus,
    },
};
use serde_json::{Map, Value};

use super::{Relay, connection::Connection, environment::Environment};

/// How much of the name of a method is shown.
const METHOD_CHARS_MAX: usize = 64;

/// The longest name of a session, a run or a tool call.
const NAME_BYTES_MAX: usize = 256;

impl Relay {
    /// Writes down that an environment asked for what is nothing to ask; what it is told.
    pub(super) async fn refuse(
        &self,
        environment: &Environment,
        (method, context): (&str, Option<&RelayContext>),
        error: RelayError,
    ) -> RelayError {
        self.metrics.refused(error.code);
        let bound = &environment.entry;
        let connection = self.connections.get(&bound.client_id);
        let mut entry = entry(&bound.client_id, connection.as_deref(), method, Err(&error));
        let said = |of: fn(&RelayContext) -> &Option<String>| {
            context.and_then(|context| of(context).clone()).filter(|name| is_name(name))
        };
        entry.session_id = environment.session();
        entry.run_id = bound.run_id.clone().or_else(|| said(|context| &context.run_id));
        entry.tool_call_id = said(|context| &context.tool_call_id);
        entry.summary.insert("environment_id".into(), bound.id.to_string().into());
        entry.summary.insert("runtime_id".into(), bound.runtime_id.as_str().into());
        // It is refused all the same.
        let _ = self.ledger.begin(entry, false).await;
        error
    }

    /// Writes down what a device asked of the hub, and what came of it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) async fn asked_by(
        &self,
        (client_id, connection): (&ClientId, Option<&Connection>),
        (method, summary): (&str, Map<String, Value>),
        outcome: Result<(), &RelayError>,
    ) -> Result<(), RelayError> {
        let entry = RelayAuditEntry { summary, ..entry(client_id, connection, method, outcome) };
        self.ledger.begin(entry, false).await
    }
}

/// Whether what is said of a session, a run or a tool call are names.
///
/// # Errors
/// `invalid_request` if one is too long.
pub(super) fn check_names(context: Option<&RelayContext>) -> Result<(), RelayError> {
    let Some(RelayContext { session_id, run_id, tool_call_id, .. }) = context else { return Ok(()) };
    for (name, said) in [("session_id", session_id), ("run_id", run_id), ("tool_call_id", tool_call_id)] {
        if let Some(said) = said.as_ref().filter(|said| !is_name(said)) {
            let error =
                RelayError::new(RelayErrorCode::InvalidRequest, format!("`context.{name}` is too long"));
            return Err(error.with("field", name).with("limit", NAME_BYTES_MAX).with("actual", said.len()));
        }
    }
    Ok(())
}

/// So much of the name of a method as is shown.
pub(super) fn shown(method: &str) -> String {
    method.chars().filter(|char| !char.is_control()).take(METHOD_CHARS_MAX).collect()
}

fn is_name(said: &str) -> bool {
    said.len() <= NAME_BYTES_MAX
}

fn entry(
    client_id: &ClientId,
    connection: Option<&Connection>,
    method: &str,
    outcome: Result<(), &RelayError>,
) -> RelayAuditEntry {
    let now = Timestamp::now();
    let (policy_decision, status) = match outcome {
        Ok(()) => (PolicyDecision::Allowed, RequestStatus::Succeeded),
        Err(_) => (PolicyDecision::Blocked, RequestStatus::Failed),
    };
    RelayAuditEntry {
        id: AuditId::mint().to_string(),
        connection_id: connection.map(|it| it.id.clone()).unwrap_or_default(),
        client_id: client_id.clone(),
        method: shown(method),
        session_id: None,
        run_id: None,
        tool_call_id: None,
        capability: MethodInfo::find(method).map(|row| row.family),
        policy_decision,
        started_at: now,
        completed_at: Some(now),
        status: Some(status),
        error: outcome.err().map(|error| error.code),
        root_id: None,
        virtual_path: None,
        summary: Map::new(),
        seq: None,
        prev_hash: None,
        hash: None,
    }
}
