//! The sessions that there are: what is kept of them, and the way to each.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::AtomicBool},
};

use files::private_file;
use journal::{
    Retention,
    durable::{self, DurableJournal, JournalStore},
};
use parking_lot::{Mutex, RwLock};
use protocol::{SessionId, sessions::CreateSessionRequest};
use tokio::{
    runtime::Handle,
    sync::{OnceCell, mpsc},
};
use tracing::error;

use crate::{
    Error,
    board::Board,
    error::chain,
    kept::{Kept, SESSION, note},
    launch::Launcher,
    session_secrets::SessionSecrets,
    shared::Shared,
    thread::Thread,
    worker::Msg,
};

/// The file of journals, below the directory of the sessions.
pub(crate) const FILE: &str = "sessions.db";

/// All sessions that there are.
pub(crate) struct Shelf {
    pub(crate) store: JournalStore,
    pub(crate) thread: Thread,
    pub(crate) sessions: RwLock<HashMap<SessionId, Arc<Entry>>>,
}

/// One of them.
pub(crate) struct Entry {
    pub(crate) id: SessionId,
    /// How it was created, with its secrets but without the token.
    pub(crate) create: CreateSessionRequest,
    /// Filled once it is written down that there is such a session.
    pub(crate) shared: OnceCell<Arc<Shared>>,
    /// The way to its worker, if it has one.
    pub(crate) door: Mutex<Option<mpsc::Sender<Msg>>>,
    /// Where its worker runs.
    pub(crate) thread: Handle,
    /// Something was under way when the daemon was last ended, and its worker has not been asked since.
    pub(crate) unfinished: AtomicBool,
}

impl Shelf {
    /// As the file has it, which is made if there is none. What waits in the sessions is shown on `board`.
    pub(crate) async fn open(launcher: &Launcher, board: &Arc<Board>) -> Result<Self, Error> {
        let directory = launcher.config.directory.clone();
        let metrics = launcher.metrics.journal.clone();
        let opened = tokio::task::spawn_blocking(move || {
            // The store reports a file that cannot be created, with its name.
            let _ = private_file::make_directory_private(&directory);
            JournalStore::open_with(directory.join(FILE), durable::SyncMode::Normal, metrics)
        });
        let store = opened.await.map_err(|_| durable::Error::Died)??;
        let thread = Thread::start().map_err(|error| Error::Thread(Arc::new(error)))?;
        let mut sessions = HashMap::new();
        for noted in store.records(SESSION).await? {
            let Ok(id) = noted.journal.parse::<SessionId>() else { continue };
            let mut kept: Kept = match serde_json::from_slice(&noted.value) {
                Ok(kept) => kept,
                Err(error) => {
                    error!(session = %id, %error, "could not read the stored state of a session; skipping it");
                    continue;
                }
            };
            let journal = store.journal(id.as_str(), Retention::UNLIMITED).await?;
            let secrets = match secrets(launcher, &id, &mut kept, &journal).await {
                Ok(secrets) => secrets,
                Err(error @ Error::Secrets { .. }) => {
                    let error = chain(&error);
                    error!(session = %id, error, "could not restore the secrets of a session; skipping it");
                    continue;
                }
                Err(error) => return Err(error),
            };
            let create = secrets.complete(kept.create.clone());
            let shared = Shared::new(id.clone(), journal, &kept, secrets, (&launcher.installer, board));
            let (shared, unfinished) = (OnceCell::new_with(Some(shared)), kept.unfinished.into());
            let new = Entry::new(id.clone(), create, thread.handle());
            sessions.insert(id, Arc::new(Entry { shared, unfinished, ..new }));
        }
        Ok(Self { store, thread, sessions: RwLock::new(sessions) })
    }

    pub(crate) fn get(&self, id: &SessionId) -> Option<Arc<Entry>> {
        self.sessions.read().get(id).cloned()
    }

    pub(crate) fn entries(&self) -> Vec<Arc<Entry>> {
        self.sessions.read().values().cloned().collect()
    }

    pub(crate) fn forget(&self, entry: &Arc<Entry>) {
        let mut sessions = self.sessions.write();
        if sessions.get(&entry.id).is_some_and(|known| Arc::ptr_eq(known, entry)) {
            sessions.remove(&entry.id);
        }
    }
}

/// The secrets of a stored session.
///
/// Earlier versions wrote them to the journal; those are moved to the private file.
async fn secrets(
    launcher: &Launcher,
    id: &SessionId,
    kept: &mut Kept,
    journal: &DurableJournal,
) -> Result<SessionSecrets, Error> {
    if kept.has_secrets {
        return launcher.read_secrets(id).await;
    }
    let secrets = SessionSecrets::take(&mut kept.create);
    if !secrets.is_empty() {
        kept.has_secrets = true;
        launcher.write_secrets(id, secrets.clone()).await?;
        journal.append_with_records(Default::default(), vec![note(SESSION, "", &*kept)]).await?;
    }
    Ok(secrets)
}

impl Entry {
    /// One of which nothing is written down yet.
    pub(crate) fn new(id: SessionId, create: CreateSessionRequest, thread: Handle) -> Self {
        let (shared, door, unfinished) = (OnceCell::new(), Mutex::default(), AtomicBool::new(false));
        Self { id, create, shared, door, thread, unfinished }
    }
}
