//! The part of a session that requests read without its worker.

use std::sync::Arc;

use agent_catalog::Definition;
use agent_install::Installer;
use journal::durable::DurableJournal;
use parking_lot::{Mutex, RwLock};
use protocol::{
    SessionId, TurnId, WaitId,
    sessions::{Session, SessionState},
    wait::Wait,
};
use secrecy::SecretString;

use crate::{open_waits::OpenWaits, session_secrets::SessionSecrets, stored_session::StoredSession};

/// The part of a session that requests read without its worker. The worker publishes to it after each commit.
pub(crate) struct SessionHandle {
    pub(crate) id: SessionId,
    pub(crate) journal: DurableJournal,
    /// The API key for the agent's model. It is never stored.
    pub(crate) token: Mutex<Option<SecretString>>,
    pub(crate) secrets: SessionSecrets,
    /// The session as the API describes it.
    pub(crate) view: RwLock<Session>,
    open_waits: Arc<OpenWaits>,
}

/// The state of a session that changes with every event, unlike its record.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct SessionActivity {
    pub(crate) state: SessionState,
    pub(crate) turn: Option<TurnId>,
    pub(crate) queued_inputs: u64,
    pub(crate) open_waits: u64,
    pub(crate) newest_seq: u64,
}

impl SessionHandle {
    /// The handle of a session that has no worker yet.
    pub(crate) fn new(
        id: SessionId,
        journal: DurableJournal,
        stored: &StoredSession,
        secrets: SessionSecrets,
        installer: &Installer,
        open_waits: &Arc<OpenWaits>,
    ) -> Arc<Self> {
        let activity =
            SessionActivity { newest_seq: journal.bounds().newest.get(), ..SessionActivity::default() };
        let definition = installer.catalog().get(&stored.options.agent).cloned();
        let view = RwLock::new(describe(&id, stored, definition.as_deref(), activity));
        let open_waits = Arc::clone(open_waits);
        Arc::new(Self { id, journal, token: Mutex::default(), secrets, view, open_waits })
    }

    /// The handle of a session whose record cannot be read. Its events still can.
    pub(crate) fn unreadable(
        id: SessionId,
        journal: DurableJournal,
        view: Session,
        open_waits: &Arc<OpenWaits>,
    ) -> Arc<Self> {
        let (token, secrets, open_waits) =
            (Mutex::default(), SessionSecrets::default(), Arc::clone(open_waits));
        Arc::new(Self { id, journal, token, secrets, view: RwLock::new(view), open_waits })
    }

    /// Publishes the session and its open waits. `settled` returns a wait that is no longer open.
    pub(crate) fn publish(
        &self,
        session: Session,
        open: Vec<Wait>,
        settled: impl Fn(WaitId) -> Option<Wait>,
    ) {
        *self.view.write() = session;
        self.open_waits.publish(&self.id, open, settled);
    }

    /// Publishes the progress of a session of which nothing else changed. Most commits are pieces of a message, and
    /// [`SessionHandle::publish`] copies the whole session.
    pub(crate) fn publish_progress(&self, activity: SessionActivity) {
        let SessionActivity { state, turn, queued_inputs, open_waits: _, newest_seq } = activity;
        let view = &mut *self.view.write();
        (view.state, view.turn_id, view.queued_inputs, view.newest_seq) =
            (state, turn, queued_inputs, newest_seq);
    }

    /// Whether the journal contains events that the published session does not include yet.
    pub(crate) fn is_behind(&self) -> bool {
        self.view.read().newest_seq < self.journal.bounds().newest.get()
    }
}

/// Describes a session as the API does.
pub(crate) fn describe(
    id: &SessionId,
    stored: &StoredSession,
    definition: Option<&Definition>,
    activity: SessionActivity,
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
        state: activity.state,
        turn_id: activity.turn,
        queued_inputs: activity.queued_inputs,
        open_waits: activity.open_waits,
        usage: stored.usage,
        error: stored.error.clone(),
        capabilities: definition.map_or_else(Default::default, |definition| definition.capabilities),
        created_at: stored.created_at,
        updated_at: stored.updated_at,
        newest_seq: activity.newest_seq,
    }
}
