//! What an approval for more than once is for.

use jiff::Timestamp;
use protocol::{
    EnvironmentId, UserName, WaitId,
    lending::RememberedApproval,
    relay::{ClientId, Sha256},
};

/// What an approval for more than once is for: of nothing else it says anything.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Scope {
    pub(super) client_id: ClientId,
    /// The workspace or space.
    pub(super) scope_id: String,
    /// The method, or the tool as `tool:NAME`.
    pub(super) what: String,
    /// The tool as it is described.
    pub(super) tool_hash: Option<Sha256>,
    pub(super) run: Option<Run>,
}

/// A run. Whoever uses an environment says what its runs are called: another's are others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Run {
    pub(super) environment_id: EnvironmentId,
    pub(super) run_id: Option<String>,
}

impl Scope {
    /// Whether this was approved.
    pub(super) fn is_of(&self, approved: &RememberedApproval) -> bool {
        let run = self.run.as_ref();
        approved.client_id == self.client_id
            && approved.scope_id == self.scope_id
            && approved.operation == self.what
            && approved.tool_hash == self.tool_hash
            && approved.environment_id == run.map(|run| run.environment_id)
            && approved.run_id.as_ref() == run.and_then(|run| run.run_id.as_ref())
    }

    /// It was approved by somebody.
    pub(super) fn approved(self, id: WaitId, author: UserName) -> RememberedApproval {
        let Self { client_id, scope_id, what, tool_hash, run } = self;
        let (environment_id, run_id) = run.map(|run| (run.environment_id, run.run_id)).unzip();
        RememberedApproval {
            id,
            client_id,
            scope_id,
            operation: what,
            tool_hash,
            environment_id,
            run_id: run_id.flatten(),
            author,
            approved_at: Timestamp::now(),
        }
    }
}
