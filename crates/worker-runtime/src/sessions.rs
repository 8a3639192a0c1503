//! All sessions of a daemon. A handle sends commands to the worker of each session.

mod commands;
mod creation;
mod operations;

use std::{collections::HashMap, fs, path::PathBuf, sync::Arc};

use agent_catalog::Definition;
use agent_install::Installer;
use agent_server::AgentServers;
use journal::durable::DurableJournal;
use prometheus_client::registry::Registry;
use protocol::{
    AgentName, SessionId,
    agents::{AgentModeList, AgentModelList},
    sessions::{Session, SessionState},
};
use tokio::sync::{OnceCell, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::error;

use crate::{
    Config, Error, SessionFilter, Settings,
    launcher::Launcher,
    metrics::{self, SessionMetrics},
    offer_cache::OfferCache,
    open_waits::OpenWaits,
    session_entry::SessionEntry,
    session_handle::SessionHandle,
    session_store::{self, SessionStore},
    worker_command::{StopCause, WorkerCommand},
};

pub use operations::{EventReader, PAGE_EVENTS_MAX, PAGE_MESSAGES_MAX};

/// All sessions of a daemon. Clones refer to the same sessions.
#[derive(Clone)]
pub struct Sessions {
    inner: Arc<Inner>,
}

struct Inner {
    launcher: Arc<Launcher>,
    /// Opened by [`Sessions::open`], or when it is first needed.
    store: OnceCell<SessionStore>,
    open_waits: Arc<OpenWaits>,
    workers: TaskTracker,
    shutdown: CancellationToken,
}

impl Sessions {
    /// The sessions that are stored in the directory of `config`.
    pub fn new(config: Config, installer: Installer, settings: Arc<dyn Settings>) -> Self {
        let servers = AgentServers::new(config.idle);
        let metrics = SessionMetrics::default();
        let offer_cache = OfferCache::new(&config.directory);
        let launcher = Launcher { config, installer, settings, servers, metrics, offer_cache };
        Self {
            inner: Arc::new(Inner {
                launcher: Arc::new(launcher),
                store: OnceCell::new(),
                open_waits: Arc::new(OpenWaits::new()),
                workers: TaskTracker::new(),
                shutdown: CancellationToken::new(),
            }),
        }
    }

    /// Opens the database of sessions if there is one. The first session creates it: the reserve that it keeps on the disk would
    /// make the first start of a daemon five times as long.
    ///
    /// # Errors
    /// If the database cannot be used, or another daemon uses it.
    pub async fn open(&self) -> Result<(), Error> {
        if self.has_database() { self.store().await.map(drop) } else { Ok(()) }
    }

    fn has_database(&self) -> bool {
        self.inner.launcher.config.directory.join(session_store::FILE).exists()
    }

    /// Resumes what was in progress when the daemon last ended.
    pub async fn recover(&self) {
        if !self.has_database() {
            return;
        }
        let store = match self.store().await {
            Ok(store) => store,
            Err(error) => return error!(%error, "could not open the session store"),
        };
        for entry in store.entries() {
            self.catch_up(&entry).await;
        }
    }

    /// The sessions that match, the most recently used first.
    pub async fn list(&self, filter: &SessionFilter) -> Result<Vec<Session>, Error> {
        let entries = self.store().await?.entries();
        for entry in &entries {
            self.catch_up(entry).await;
        }
        let views = entries.iter().filter_map(|entry| entry.handle.get()).map(|handle| handle.view.read());
        let mut sessions: Vec<_> =
            views.filter(|view| filter.matches(view)).map(|view| view.clone()).collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(session.updated_at));
        Ok(sessions)
    }

    /// One session.
    pub async fn get(&self, id: &SessionId) -> Result<Session, Error> {
        if let Some(entry) = self.store().await?.get(id) {
            self.catch_up(&entry).await;
        }
        Ok(self.handle(id).await?.view.read().clone())
    }

    /// The number of sessions with a running agent, by agent.
    pub fn running(&self) -> HashMap<AgentName, u64> {
        let mut running = HashMap::new();
        for entry in self.inner.store.get().map(SessionStore::entries).unwrap_or_default() {
            let Some(handle) = entry.handle.get() else { continue };
            let view = handle.view.read();
            let is_running = matches!(
                view.state,
                SessionState::Starting | SessionState::Idle | SessionState::Running | SessionState::Waiting
            );
            if is_running {
                *running.entry(view.agent.clone()).or_default() += 1;
            }
        }
        running
    }

    /// The modes of an agent that sessions in `directory` accept.
    ///
    /// # Errors
    /// If the agent or the directory does not exist.
    pub async fn modes(&self, agent: &AgentName, directory: Option<&str>) -> Result<AgentModeList, Error> {
        let (agent, directory) = self.agent_in(agent, directory).await?;
        Ok(self.inner.launcher.modes(&agent, directory).await)
    }

    /// The models that an agent can use in `directory`.
    ///
    /// # Errors
    /// If the agent or the directory does not exist.
    pub async fn models(&self, agent: &AgentName, directory: Option<&str>) -> Result<AgentModelList, Error> {
        let (agent, directory) = self.agent_in(agent, directory).await?;
        Ok(self.inner.launcher.models(&agent, directory).await)
    }

    async fn agent_in(
        &self,
        agent: &AgentName,
        directory: Option<&str>,
    ) -> Result<(Arc<Definition>, PathBuf), Error> {
        Ok((self.inner.launcher.installer.find_agent(agent).await?, self.directory(directory)?))
    }

    /// Checks the working directory of an agent.
    fn directory(&self, directory: Option<&str>) -> Result<PathBuf, Error> {
        let Some(directory) = directory else {
            let current = &self.inner.launcher.config.current_dir;
            // The record of a session is JSON, which cannot contain another path.
            return match current.to_str() {
                Some(_) => Ok(current.clone()),
                None => Err(Error::Directory {
                    path: current.display().to_string(),
                    problem: "is not valid UTF-8",
                }),
            };
        };
        let path = PathBuf::from(directory);
        let problem = if !path.is_absolute() {
            "is relative"
        } else if path.is_dir() {
            return Ok(path);
        } else if path.exists() {
            "is not a directory"
        } else {
            "does not exist"
        };
        Err(Error::Directory { path: directory.to_owned(), problem })
    }

    /// Registers the metrics. The database has none before the first session.
    pub fn register(&self, registry: &mut Registry) {
        self.inner.launcher.metrics.register(registry);
        let entries = self.inner.store.get().map(SessionStore::entries).unwrap_or_default();
        let state_and_waits = |handle: &Arc<SessionHandle>| {
            let view = handle.view.read();
            (view.state, view.open_waits)
        };
        let handles = entries.iter().filter_map(|entry| entry.handle.get());
        metrics::register_gauges(registry, handles.map(state_and_waits));
    }

    /// Stops the agent of a session and deletes the session.
    pub async fn delete(&self, id: &SessionId) -> Result<(), Error> {
        let store = self.store().await?;
        match store.get(id) {
            Some(entry) => self.delete_entry(store, &entry).await,
            None => Ok(()),
        }
    }

    async fn delete_entry(&self, store: &SessionStore, entry: &Arc<SessionEntry>) -> Result<(), Error> {
        let id = &entry.id;
        match self.send_command(entry, |reply| WorkerCommand::Stop(StopCause::Delete, reply)).await {
            // A session that cannot be read can still be deleted.
            Ok(()) | Err(Error::Damaged(_) | Error::Unreadable { .. } | Error::Secrets { .. }) => {}
            Err(error) => return Err(error),
        }
        store.journals.delete(id.as_str()).await?;
        let private = self.inner.launcher.private_directory(id);
        // If this fails, a later session with the same id overwrites the files.
        let _ = tokio::task::spawn_blocking(move || fs::remove_dir_all(private)).await;
        self.inner.open_waits.remove_session(id);
        store.remove(entry);
        Ok(())
    }

    /// Stops all agents and workers. The sessions stay.
    pub async fn shutdown(&self) {
        self.inner.shutdown.cancel();
        let Some(store) = self.inner.store.get() else { return self.inner.open_waits.seal() };
        let mut stops = tokio::task::JoinSet::new();
        for entry in store.entries() {
            let worker = entry.commands.lock().clone().filter(|worker| !worker.is_closed());
            let Some(worker) = worker else {
                // Without a worker, nothing else ends the readers of the session.
                entry.handle.get().inspect(|handle| handle.journal.seal());
                continue;
            };
            stops.spawn(async move {
                let (reply, done) = oneshot::channel();
                if worker.send(WorkerCommand::Stop(StopCause::Shutdown, reply)).await.is_ok() {
                    let _ = done.await;
                }
            });
        }
        stops.join_all().await;
        self.inner.workers.close();
        self.inner.workers.wait().await;
        self.inner.open_waits.seal();
        self.inner.launcher.servers.stop().await;
    }

    /// The journal of a session.
    pub(crate) async fn journal(&self, id: &SessionId) -> Result<DurableJournal, Error> {
        Ok(self.handle(id).await?.journal.clone())
    }

    async fn handle(&self, id: &SessionId) -> Result<Arc<SessionHandle>, Error> {
        let entry = self.store().await?.get(id);
        entry.and_then(|entry| entry.handle.get().cloned()).ok_or_else(|| Error::NotFound(id.clone()))
    }

    async fn store(&self) -> Result<&SessionStore, Error> {
        let open = || SessionStore::open(&self.inner.launcher, &self.inner.open_waits);
        self.inner.store.get_or_try_init(open).await
    }
}
