//! A request that goes on: what is written down of it, shown of it, and told when it ends.

use std::{sync::Arc, time::Instant};

use jiff::Timestamp;
use protocol::{
    AuditId,
    lending::RelayCall,
    observation::StreamControl,
    relay::{
        MethodInfo, PolicyDecision, RawJson, RelayAuditEntry, RelayContext, RelayError, RelayErrorCode,
        RequestStatus,
    },
};

use super::{
    Relay,
    approvals::{Approved, Refused},
    connection::Connection,
    environment::Environment,
    target::Target,
};

/// A request that goes on. Who drops it has cancelled it.
pub(crate) struct Pending {
    relay: Relay,
    environment: Arc<Environment>,
    connection: Option<Arc<Connection>>,
    row: &'static MethodInfo,
    entry: RelayAuditEntry,
    target: Option<String>,
    since: Instant,
    is_over: bool,
}

impl Pending {
    pub(crate) fn new(
        relay: &Relay,
        (environment, connection): (&Arc<Environment>, Option<Arc<Connection>>),
        row: &'static MethodInfo,
        context: Option<&RelayContext>,
    ) -> Self {
        let bound = &environment.entry;
        let said = |of: fn(&RelayContext) -> &Option<String>| context.and_then(|context| of(context).clone());
        let mut entry = RelayAuditEntry {
            id: AuditId::mint().to_string(),
            connection_id: connection.as_ref().map(|it| it.id.clone()).unwrap_or_default(),
            client_id: bound.client_id.clone(),
            method: row.name.to_owned(),
            session_id: environment.session(),
            run_id: bound.run_id.clone().or_else(|| said(|context| &context.run_id)),
            tool_call_id: said(|context| &context.tool_call_id),
            capability: Some(row.family),
            policy_decision: PolicyDecision::Blocked,
            started_at: Timestamp::now(),
            completed_at: None,
            status: None,
            error: None,
            root_id: None,
            virtual_path: None,
            summary: serde_json::Map::new(),
            seq: None,
            prev_hash: None,
            hash: None,
        };
        entry.summary.insert("environment_id".into(), bound.id.to_string().into());
        entry.summary.insert("runtime_id".into(), bound.runtime_id.as_str().into());
        Self {
            relay: relay.clone(),
            environment: Arc::clone(environment),
            connection,
            row,
            entry,
            target: None,
            since: Instant::now(),
            is_over: false,
        }
    }

    /// It is known what it is about.
    pub(crate) fn is_about(&mut self, target: &Target) {
        self.entry.root_id.clone_from(&target.root_id);
        self.entry.virtual_path.clone_from(&target.virtual_path);
        self.entry.summary.extend(target.summary.clone());
        self.target.clone_from(&target.label);
    }

    /// The path of the request is resolved against what the environment may use.
    pub(crate) fn is_at(&mut self, target: &Target) {
        self.entry.virtual_path.clone_from(&target.virtual_path);
        self.target.clone_from(&target.label);
    }

    /// Somebody has approved it, now or before.
    pub(crate) fn is_approved(&mut self, approved: &Approved) {
        self.entry.policy_decision = PolicyDecision::Approved;
        let summary = &mut self.entry.summary;
        summary.insert("approved_by".into(), approved.by.as_str().into());
        summary.insert("wait_id".into(), approved.wait.to_string().into());
        if approved.is_remembered {
            summary.insert("remembered".into(), true.into());
        }
    }

    /// Nobody has approved it, or somebody has refused it.
    pub(crate) fn is_refused(&mut self, refused: &Refused) {
        let summary = &mut self.entry.summary;
        if let Some(by) = &refused.by {
            summary.insert("refused_by".into(), by.as_str().into());
        }
        if let Some(wait) = refused.wait {
            summary.insert("wait_id".into(), wait.to_string().into());
        }
    }

    /// The run that it is made for.
    pub(crate) fn run(&self) -> Option<&str> {
        self.entry.run_id.as_deref()
    }

    pub(crate) fn call_id(&self) -> Option<&str> {
        self.entry.tool_call_id.as_deref()
    }

    /// It leaves. What changes something is written down before.
    pub(crate) async fn begin(&mut self, must: bool) -> Result<(), RelayError> {
        if self.entry.policy_decision == PolicyDecision::Blocked {
            self.entry.policy_decision = PolicyDecision::Allowed;
        }
        self.relay.ledger.begin(self.entry.clone(), must).await?;
        self.tell();
        Ok(())
    }

    /// It has ended; so much of a stream came before.
    pub(crate) fn end(&mut self, outcome: &Result<RawJson, RelayError>, stream_bytes: u64) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        let entry = &mut self.entry;
        entry.completed_at = Some(Timestamp::now());
        match outcome {
            Ok(result) => {
                entry.status = Some(RequestStatus::Succeeded);
                entry.summary.insert("result_bytes".into(), result.size().into());
            }
            Err(error) if error.code == RelayErrorCode::Cancelled => {
                (entry.status, entry.error) = (Some(RequestStatus::Cancelled), Some(error.code));
            }
            Err(error) => (entry.status, entry.error) = (Some(RequestStatus::Failed), Some(error.code)),
        }
        if stream_bytes > 0 {
            entry.summary.insert("stream_bytes".into(), stream_bytes.into());
        }
        self.relay.metrics.ended(self.row.family, entry.error, self.since.elapsed());
        self.relay.ledger.end(self.entry.clone());
        if let (Some(connection), true) = (&self.connection, self.entry.status == Some(RequestStatus::Failed))
        {
            connection.failed(self.call());
        }
        self.tell();
    }

    /// Shows it to those who watch the session.
    fn tell(&self) {
        let bound = &self.environment.entry;
        if let Some(session) = &bound.session_id {
            self.relay.feeds.tell(&bound.runtime_id, session, || StreamControl::Relay(Box::new(self.call())));
        }
    }

    fn call(&self) -> RelayCall {
        let entry = &self.entry;
        RelayCall {
            id: entry.id.clone(),
            environment_id: self.environment.entry.id,
            client_id: entry.client_id.clone(),
            method: entry.method.clone(),
            tool_call_id: entry.tool_call_id.clone(),
            run_id: entry.run_id.clone(),
            target: self.target.clone(),
            virtual_path: entry.virtual_path.clone(),
            policy_decision: entry.policy_decision,
            started_at: entry.started_at,
            status: entry.status,
            error: entry.error,
            duration_ms: entry.status.map(|_| u64::try_from(self.since.elapsed().as_millis()).unwrap_or(0)),
            artifact_ids: Vec::new(),
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.is_over {
            self.end(&Err(RelayError::new(RelayErrorCode::Cancelled, "the caller disconnected")), 0);
        }
    }
}
