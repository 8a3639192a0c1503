//! One request of a runtime, as its owner sees it: while it goes on, and on record.

use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::Mutex;
use protocol::{
    device::RunningRequest,
    relay::{
        MethodAccess, MethodInfo, PolicyDecision, RawJson, RelayAuditEntry, RelayContext, RelayError,
        RelayErrorCode, Request, RequestStatus, Root, VirtualPath, audit::RequestSummary,
    },
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{
    Ledger,
    ledger::{RequestMark, Stage, Unwritten},
    usage::{Present, Usage},
};

/// The longest name of a method, session, run or tool call that is kept.
const NAME_CHARS_MAX: usize = 128;

/// How much is kept of a path: what people read of one. The rest would be room that whoever asks fills as they like.
const PATH_CHARS_MAX: usize = 512;

/// One request of a runtime. When it is dropped before it has ended, it was cancelled.
pub struct Visit {
    usage: Usage,
    method: String,
    /// Whether it only looks: then nobody waits until it is on record.
    is_look: bool,
    /// Whether it stops something: then a full disk does not refuse it.
    is_stop: bool,
    shared: Arc<Shared>,
    is_over: bool,
}

/// Something that a request has started and that may go on when the request is answered. As long as it does, the owner sees
/// the request, and it is on record as one that has not ended.
pub struct Lasting(Arc<Shared>);

/// What is seen of a request and of what it has started.
struct Shared {
    present: Present,
    mark: RequestMark,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// None once its end is written down, or if nothing is.
    record: Option<(Ledger, RelayAuditEntry)>,
    /// Whether it was answered.
    is_answered: bool,
    /// Whether what it has started goes on.
    lasts: bool,
}

impl Visit {
    /// It was asked.
    pub(crate) fn begin(usage: &Usage, ledger: Option<&Ledger>, roots: &[Root], request: &Request) -> Self {
        let RequestSummary { root_id, path, mut summary } =
            RequestSummary::from_request(&request.method, &request.params);
        let root = root_id.as_ref().and_then(|id| roots.iter().find(|root| root.root_id == *id));
        // A path that leaves the root has no place in it.
        let virtual_path = root.and_then(|root| root.virtual_path.join(&path.unwrap_or_default()));
        let virtual_path = virtual_path.and_then(|path| kept(path, &mut summary));
        let context = request.context.as_ref();
        let name = |of: fn(&RelayContext) -> &Option<String>| {
            context.and_then(|context| Some(short(of(context).as_deref()?)))
        };
        let (session_id, run_id) = (name(|context| &context.session_id), name(|context| &context.run_id));
        let (started_at, method, row) =
            (Timestamp::now(), short(&request.method), MethodInfo::find(&request.method));
        let running = RunningRequest {
            method: method.clone(),
            session_id: session_id.clone(),
            run_id: run_id.clone(),
            started_at,
            virtual_path: virtual_path.clone(),
            summary: summary.clone(),
        };
        let record = ledger.map(|ledger| {
            let live = usage.live();
            let entry = RelayAuditEntry {
                id: format!("aud_{}", Uuid::now_v7().simple()),
                connection_id: live.map(|live| live.accepted.connection_id).unwrap_or_default(),
                client_id: ledger.client_id().clone(),
                method: method.clone(),
                session_id,
                run_id,
                tool_call_id: name(|context| &context.tool_call_id),
                capability: row.map(|row| row.family),
                // Until somebody says otherwise.
                policy_decision: PolicyDecision::Blocked,
                started_at,
                completed_at: None,
                status: None,
                error: None,
                root_id,
                virtual_path,
                summary,
                seq: None,
                prev_hash: None,
                hash: None,
            };
            (ledger.clone(), entry)
        });
        let state = Mutex::new(State { record, ..State::default() });
        let shared = Arc::new(Shared { present: usage.begin(running), mark: RequestMark::default(), state });
        let is_look = row.is_some_and(|row| row.access == MethodAccess::Read);
        let is_stop = row.is_some_and(MethodInfo::stops_running_operation);
        Self { usage: usage.clone(), method, is_look, is_stop, shared, is_over: false }
    }

    /// It may be done; returns once that is on record, or will be if it only looks.
    ///
    /// # Errors
    /// `provider_error` if it cannot be put on record: then it is not done.
    pub(crate) async fn allowed(&self, decision: PolicyDecision) -> Result<(), RelayError> {
        let record = self.shared.state.lock().record.as_mut().map(|(ledger, entry)| {
            entry.policy_decision = decision;
            (ledger.clone(), entry.clone())
        });
        let Some((ledger, entry)) = record else { return Ok(()) };
        let stage = if self.is_stop { Stage::Stop } else { Stage::Begin };
        self.record(&ledger, stage, entry).await.map_err(|_| {
            RelayError::new(RelayErrorCode::ProviderError, "the device cannot write its audit log, so it refuses all requests; its owner must free disk space or fix the log")
        })
    }

    /// It has started something that may go on when it is answered: once, and that is told when it has ended.
    pub fn lasts(&self) -> Lasting {
        self.shared.state.lock().lasts = true;
        Lasting(self.shared.clone())
    }

    /// It has ended; returns once that is on record, or will be if it only looked and has seen something.
    pub(crate) async fn ended(&mut self, outcome: &Result<RawJson, RelayError>) {
        if let Err(error) = outcome {
            self.usage.failed(&self.method, error);
        }
        if let Some((ledger, entry)) = self.answered(outcome.as_ref().err().map(|error| error.code)) {
            // The end of what was begun is written later if it cannot be written now. A refusal may be dropped.
            let _ = match outcome {
                Ok(_) => self.record(&ledger, Stage::End, entry).await,
                Err(_) => ledger.write(Stage::End, &self.shared.mark, entry).await,
            };
        }
    }

    async fn record(&self, ledger: &Ledger, stage: Stage, entry: RelayAuditEntry) -> Result<(), Unwritten> {
        let mark = &self.shared.mark;
        if self.is_look {
            ledger.post(stage, mark, entry).await
        } else {
            ledger.write(stage, mark, entry).await
        }
    }

    /// What is to be written down, now that it was answered.
    fn answered(&mut self, error: Option<RelayErrorCode>) -> Option<(Ledger, RelayAuditEntry)> {
        self.is_over = true;
        let mut state = self.shared.state.lock();
        state.is_answered = true;
        if state.lasts { None } else { state.complete(error) }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if !self.is_over
            && let Some((ledger, entry)) = self.answered(Some(RelayErrorCode::Cancelled))
        {
            ledger.write_later(&self.shared.mark, entry);
        }
    }
}

impl Lasting {
    /// More is known of it.
    pub(crate) fn note(&self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        self.0.present.note(name, value.clone());
        if let Some((_, entry)) = &mut self.0.state.lock().record {
            entry.summary.insert(name.into(), value);
        }
    }

    /// It has ended; returns once that is on record, unless the request is yet to be answered.
    pub(crate) async fn ended(self, error: Option<RelayErrorCode>) {
        let record = {
            let mut state = self.0.state.lock();
            state.lasts = false;
            if state.is_answered { state.complete(error) } else { None }
        };
        if let Some((ledger, entry)) = record {
            // As with a request.
            let _ = ledger.write(Stage::End, &self.0.mark, entry).await;
        }
    }
}

impl State {
    /// The entry of what has ended, if it is not written down yet.
    fn complete(&mut self, error: Option<RelayErrorCode>) -> Option<(Ledger, RelayAuditEntry)> {
        let (ledger, entry) = self.record.take()?;
        let status = match error {
            None => RequestStatus::Succeeded,
            Some(RelayErrorCode::Cancelled) => RequestStatus::Cancelled,
            Some(_) => RequestStatus::Failed,
        };
        // A provider knows of paths what nobody knew before.
        let is_blocked = matches!(
            error,
            Some(
                RelayErrorCode::PermissionDenied
                    | RelayErrorCode::PolicyBlocked
                    | RelayErrorCode::ApprovalRequired
                    | RelayErrorCode::CapabilityUnavailable
            )
        );
        let policy_decision = if is_blocked { PolicyDecision::Blocked } else { entry.policy_decision };
        let completed_at = Some(Timestamp::now());
        Some((
            ledger,
            RelayAuditEntry { completed_at, status: Some(status), error, policy_decision, ..entry },
        ))
    }
}

fn short(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).collect()
}

/// What is kept of a path. Of a long one that is its beginning; which path it was can be told by the hash of all of it.
fn kept(path: VirtualPath, summary: &mut Map<String, Value>) -> Option<VirtualPath> {
    let Some((end, _)) = path.as_str().char_indices().nth(PATH_CHARS_MAX) else { return Some(path) };
    let hash = protocol::relay::Sha256::from(<[u8; 32]>::from(Sha256::digest(path.as_str())));
    summary.insert("path_sha256".into(), hash.as_str().into());
    // What is left of a name could be `..`, which no path has.
    path.as_str()[..end].trim_end_matches(['.', '/']).parse().ok()
}

#[cfg(test)]
mod tests;
