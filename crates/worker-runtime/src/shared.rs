//! What everybody may see of a session while its worker owns it.

use std::sync::Arc;

use agent_catalog::Definition;
use agent_install::Installer;
use journal::durable::DurableJournal;
use parking_lot::{Mutex, RwLock};
use protocol::{
    SessionId, TurnId,
    sessions::{Session, SessionState},
};
use secrecy::SecretString;

use crate::{board::Board, kept::Kept, session_secrets::SessionSecrets};

/// What everybody may see of a session.
pub(crate) struct Shared {
    pub(crate) id: SessionId,
    pub(crate) journal: DurableJournal,
    /// The agent's key to its model; never written down.
    pub(crate) token: Mutex<Option<SecretString>>,
    /// The other secrets, which are not in the journal.
    pub(crate) secrets: SessionSecrets,
    /// The session as it is now.
    pub(crate) view: RwLock<Session>,
    /// Where its waits are shown.
    pub(crate) board: Arc<Board>,
}

impl Shared {
    /// Of a session whose worker is not there.
    pub(crate) fn new(
        id: SessionId,
        journal: DurableJournal,
        kept: &Kept,
        secrets: SessionSecrets,
        (installer, board): (&Installer, &Arc<Board>),
    ) -> Arc<Self> {
        let newest = journal.bounds().newest.get();
        let agent = installer.catalog().get(&kept.create.agent).cloned();
        let session = describe(&id, kept, agent.as_ref(), Doing::default(), 0, newest);
        let (view, board) = (RwLock::new(session), Arc::clone(board));
        Arc::new(Self { id, journal, token: Mutex::default(), secrets, view, board })
    }
}

/// What changes of a session while it is held.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Doing {
    pub(crate) state: SessionState,
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
        title: create.title.clone().or_else(|| kept.first_words.clone()),
        agent_mode: create.agent_mode.clone(),
        permission_mode: create.permission_mode,
        model: create.model.clone(),
        variant: create.variant.clone(),
        directory: kept.directory.display().to_string(),
        state: doing.state,
        turn_id: doing.turn,
        queued_inputs: doing.queued,
        open_waits: waits,
        usage: kept.usage,
        error: kept.error.clone(),
        capabilities: agent.map_or_else(Default::default, |agent| agent.capabilities),
        created_at: kept.created_at,
        updated_at: kept.updated_at,
        newest_seq: newest,
    }
}
