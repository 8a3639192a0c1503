//! What everybody may see of a session while its worker owns it.

use std::sync::Arc;

use agents::{Definition, Installer, Secret};
use journal::durable::Durable;
use parking_lot::{Mutex, RwLock};
use protocol::{
    SessionId, TurnId,
    sessions::{Session, State},
    wait::Wait,
};

use crate::kept::Kept;

/// What everybody may see of a session.
pub(crate) struct Shared {
    pub(crate) id: SessionId,
    pub(crate) journal: Durable,
    /// The agent's key to its model; never written down.
    pub(crate) token: Mutex<Option<Secret>>,
    pub(crate) view: RwLock<View>,
}

impl Shared {
    /// Of a session whose worker is not there.
    pub(crate) fn new(id: SessionId, journal: Durable, kept: &Kept, installer: &Installer) -> Arc<Self> {
        let newest = journal.bounds().newest.get();
        let agent = installer.catalog().get(&kept.create.agent).cloned();
        let session = describe(&id, kept, agent.as_ref(), Doing::default(), 0, newest);
        let view = RwLock::new(View { session, waits: Vec::new() });
        Arc::new(Self { id, journal, token: Mutex::default(), view })
    }
}

/// A session as it is now.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) session: Session,
    pub(crate) waits: Vec<Wait>,
}

/// What changes of a session while it is held.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Doing {
    pub(crate) state: State,
    pub(crate) turn: Option<TurnId>,
    pub(crate) queued: u64,
}

/// A session as the API tells it.
pub(crate) fn describe(
    id: &SessionId,
    kept: &Kept,
    agent: Option<&Arc<Definition>>,
    doing: Doing,
    waits: u64,
    newest: u64,
) -> Session {
    let create = &kept.create;
    Session {
        id: id.clone(),
        agent: create.agent.clone(),
        agent_session_id: kept.agent_session_id.clone(),
        title: create.title.clone(),
        agent_mode: create.agent_mode.clone(),
        permission_mode: create.permission_mode,
        model: create.model.clone(),
        variant: create.variant.clone(),
        directory: kept.directory.display().to_string(),
        state: doing.state,
        turn_id: doing.turn,
        queued: doing.queued,
        waits,
        usage: kept.usage,
        error: kept.error.clone(),
        capabilities: agent.map_or_else(Default::default, |agent| agent.capabilities),
        created_at: kept.created_at,
        updated_at: kept.updated_at,
        newest,
    }
}
