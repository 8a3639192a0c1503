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

use crate::{board::Board, session_secrets::SessionSecrets, stored_session::StoredSession};

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
        stored: &StoredSession,
        secrets: SessionSecrets,
        (installer, board): (&Installer, &Arc<Board>),
    ) -> Arc<Self> {
        let newest = journal.bounds().newest.get();
        let agent = installer.catalog().get(&stored.options.agent).cloned();
        let session = describe(&id, stored, agent.as_ref(), Doing::default(), 0, newest);
        let (view, board) = (RwLock::new(session), Arc::clone(board));
        Arc::new(Self { id, journal, token: Mutex::default(), secrets, view, board })
    }

    /// The handle of a session whose record cannot be read. Its events still can.
    pub(crate) fn unreadable(
        id: SessionId,
        journal: DurableJournal,
        view: Session,
        board: &Arc<Board>,
    ) -> Arc<Self> {
        Arc::new(Self {
            id,
            journal,
            token: Mutex::default(),
            secrets: SessionSecrets::default(),
            view: RwLock::new(view),
            board: Arc::clone(board),
        })
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
    stored: &StoredSession,
    agent: Option<&Arc<Definition>>,
    doing: Doing,
    waits: u64,
    newest: u64,
) -> Session {
    let options = &stored.options;
    Session {
        id: id.clone(),
        agent: options.agent.clone(),
        agent_session_id: stored.agent_session_id.clone(),
        title: options.title.clone().or_else(|| stored.first_words.clone()),
        agent_mode: options.agent_mode.clone(),
        permission_mode: options.permission_mode,
        model: options.model.clone(),
        variant: options.variant.clone(),
        directory: stored.directory.display().to_string(),
        state: doing.state,
        turn_id: doing.turn,
        queued_inputs: doing.queued,
        open_waits: waits,
        usage: stored.usage,
        error: stored.error.clone(),
        capabilities: agent.map_or_else(Default::default, |agent| agent.capabilities),
        created_at: stored.created_at,
        updated_at: stored.updated_at,
        newest_seq: newest,
    }
}
