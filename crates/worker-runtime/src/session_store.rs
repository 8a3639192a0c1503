//! The sessions of a daemon, and the database in which they are stored.

use std::{collections::HashMap, sync::Arc};

use files::private_file;
use journal::{
    Retention,
    durable::{self, DurableJournal, JournalStore, StoredRecord},
};
use parking_lot::RwLock;
use protocol::SessionId;
use tracing::error;

use crate::{
    Error,
    error::chain,
    launcher::Launcher,
    open_waits::OpenWaits,
    session_entry::{SessionEntry, SessionParameters},
    session_handle::SessionHandle,
    session_secrets::SessionSecrets,
    session_thread::SessionThread,
    stored_session::{SESSION, StoredSession},
    unreadable_session::describe_unreadable,
};

/// The database of session journals, below the directory of the sessions.
pub(crate) const FILE: &str = "sessions.db";

/// The sessions of a daemon, and the database in which they are stored.
pub(crate) struct SessionStore {
    pub(crate) journals: JournalStore,
    pub(crate) thread: SessionThread,
    pub(crate) sessions: RwLock<HashMap<SessionId, Arc<SessionEntry>>>,
}

impl SessionStore {
    /// Opens the database, or creates it, and restores all sessions in it. The workers publish their open waits to `open_waits`.
    pub(crate) async fn open(launcher: &Launcher, open_waits: &Arc<OpenWaits>) -> Result<Self, Error> {
        let directory = launcher.config.directory.clone();
        let metrics = launcher.metrics.journal.clone();
        let opened = tokio::task::spawn_blocking(move || {
            // The store reports a file that cannot be created, with its name.
            let _ = private_file::make_directory_private(&directory);
            JournalStore::open_with(directory.join(FILE), durable::SyncMode::Normal, metrics)
        });
        let journals = opened.await.map_err(|_| durable::Error::Died)??;
        let thread = SessionThread::start().map_err(|error| Error::Thread(Arc::new(error)))?;
        let mut sessions = HashMap::new();
        for record in journals.records(SESSION).await? {
            let Ok(id) = record.journal.parse::<SessionId>() else {
                error!(journal = record.journal, "a stored session has an invalid id; skipping it");
                continue;
            };
            let journal = journals.journal(id.as_str(), Retention::UNLIMITED).await?;
            let entry = match restore(launcher, &id, &record, &journal).await {
                Ok((stored, secrets)) => {
                    let parameters =
                        SessionParameters { options: stored.options.clone(), secrets: secrets.clone() };
                    let installer = &launcher.installer;
                    let handle =
                        SessionHandle::new(id.clone(), journal, &stored, secrets, installer, open_waits);
                    let unfinished = stored.unfinished;
                    SessionEntry::restored(id.clone(), Ok(parameters), handle, unfinished, thread.handle())
                }
                Err(error @ (Error::Unreadable { .. } | Error::Secrets { .. })) => {
                    error!(session = %id, error = %chain(&error), "could not restore a session");
                    let newest_seq = journal.bounds().newest.get();
                    let view = describe_unreadable(&id, &record.value, &error, newest_seq)?;
                    let handle = SessionHandle::unreadable(id.clone(), journal, view, open_waits);
                    SessionEntry::restored(id.clone(), Err(error), handle, false, thread.handle())
                }
                Err(error) => return Err(error),
            };
            sessions.insert(id, Arc::new(entry));
        }
        Ok(Self { journals, thread, sessions: RwLock::new(sessions) })
    }

    pub(crate) fn get(&self, id: &SessionId) -> Option<Arc<SessionEntry>> {
        self.sessions.read().get(id).cloned()
    }

    pub(crate) fn entries(&self) -> Vec<Arc<SessionEntry>> {
        self.sessions.read().values().cloned().collect()
    }

    /// Removes `entry`, unless another session has taken its id since.
    pub(crate) fn remove(&self, entry: &Arc<SessionEntry>) {
        let mut sessions = self.sessions.write();
        if sessions.get(&entry.id).is_some_and(|known| Arc::ptr_eq(known, entry)) {
            sessions.remove(&entry.id);
        }
    }
}

/// Reads the record of a session, and its secrets.
///
/// Earlier versions wrote the secrets to the record; those are moved to the private file.
async fn restore(
    launcher: &Launcher,
    id: &SessionId,
    record: &StoredRecord,
    journal: &DurableJournal,
) -> Result<(StoredSession, SessionSecrets), Error> {
    let unreadable = |source| Error::unreadable(id, "record", source);
    let mut stored = StoredSession::parse(&record.value).map_err(unreadable)?;
    if stored.has_secrets {
        return Ok((stored, launcher.read_secrets(id).await?));
    }
    let secrets = SessionSecrets::from_legacy(stored.options.take_legacy_secrets()).map_err(unreadable)?;
    if !secrets.is_empty() {
        stored.has_secrets = true;
        launcher.write_secrets(id, secrets.clone()).await?;
        journal.append_with_records(Default::default(), vec![stored.update()]).await?;
    }
    Ok((stored, secrets))
}
