//! All sessions of a daemon. A handle sends requests to the worker of each session.

mod creation;

use std::{
    collections::HashMap,
    fs,
    path::PathBuf,
    sync::{Arc, atomic::Ordering},
};

use agents::{Definition, Installer, serve::Servers};
use bytes::BytesMut;
use journal::{
    Seq, StartPosition,
    durable::{self, DurableJournal},
};
use prometheus_client::registry::Registry;
use protocol::{
    AgentName, Author, IdempotencyKey, InputId, Message, SessionId, WaitId,
    agents::{AgentModeList, AgentModelList},
    sessions::{
        AnswerPermissionRequest, AnswerQuestionRequest, EditInputRequest, MessageAccepted,
        SendMessageRequest, Session, SessionInput, SessionSnapshot, SessionState,
    },
    wait::{AnswerWaitRequest, Wait},
};
use tokio::sync::{OnceCell, Semaphore, mpsc, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::error;

use crate::{
    Config, Error, SessionFilter, Settings, Waiting,
    board::Board,
    kept::{KeptWait, WAIT},
    launch::Launcher,
    log,
    metrics::{self, Metrics},
    offers::OfferCache,
    page::{self, PageError},
    search::SEARCHES_MAX,
    shared::Shared,
    shelf::{self, Entry, Shelf},
    worker::{Answer, Msg, Reply, Stop, Worker, nobody},
};

/// How many requests may wait for a worker; a worker answers in the time of a commit.
const ASKS_MAX: usize = 256;

/// The largest page of events, …
pub const PAGE_EVENTS_MAX: usize = 1000;
/// … and of messages.
pub const PAGE_MESSAGES_MAX: u32 = 200;

/// All sessions. Cheap to clone; clones are the same sessions.
#[derive(Clone)]
pub struct Sessions {
    inner: Arc<Inner>,
}

/// What follows a session.
pub type Readers = durable::DurableReader;

struct Inner {
    launcher: Arc<Launcher>,
    /// Opened by [`Sessions::open`], or when it is first needed.
    shelf: OnceCell<Shelf>,
    /// What waits in them.
    board: Arc<Board>,
    /// The searches that may start.
    searches: Semaphore,
    workers: TaskTracker,
    stop: CancellationToken,
}

impl Sessions {
    /// The sessions that are kept where `config` says.
    pub fn new(config: Config, installer: Installer, settings: Arc<dyn Settings>) -> Self {
        let servers = Servers::new(config.idle);
        let metrics = Metrics::default();
        let offer_cache = OfferCache::new(&config.directory);
        let launcher = Arc::new(Launcher { config, installer, settings, servers, metrics, offer_cache });
        let (shelf, workers, stop) = (OnceCell::new(), TaskTracker::new(), CancellationToken::new());
        let board = Arc::new(Board::new());
        let searches = Semaphore::new(SEARCHES_MAX);
        Self { inner: Arc::new(Inner { launcher, shelf, board, searches, workers, stop }) }
    }

    /// Opens the database of sessions if there is one. The first session creates it: the reserve that it keeps on the disk would
    /// make the first start of a daemon five times as long.
    ///
    /// # Errors
    /// If the database cannot be used, or another daemon uses it.
    pub async fn open(&self) -> Result<(), Error> {
        if self.has_database() { self.shelf().await.map(drop) } else { Ok(()) }
    }

    fn has_database(&self) -> bool {
        self.inner.launcher.config.directory.join(shelf::FILE).exists()
    }

    /// Goes on with what was interrupted when the daemon was last ended.
    pub async fn recover(&self) {
        if !self.has_database() {
            return;
        }
        let shelf = match self.shelf().await {
            Ok(shelf) => shelf,
            Err(error) => return error!(%error, "could not open the session store"),
        };
        for entry in shelf.entries() {
            self.catch_up(&entry).await;
        }
    }

    fn directory(&self, directory: Option<&str>) -> Result<PathBuf, Error> {
        let Some(directory) = directory else {
            return Ok(self.inner.launcher.config.current_dir.clone());
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

    /// The sessions that match, the one that was used last first.
    pub async fn list(&self, filter: &SessionFilter) -> Result<Vec<Session>, Error> {
        let entries = self.shelf().await?.entries();
        for entry in &entries {
            self.catch_up(entry).await;
        }
        let there = entries.iter().filter_map(|entry| entry.shared.get());
        let views = there.map(|shared| shared.view.read());
        let mut sessions: Vec<_> =
            views.filter(|view| filter.matches(view)).map(|view| view.clone()).collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(session.updated_at));
        Ok(sessions)
    }

    /// Every session with the way to its worker.
    pub(crate) async fn entries(&self) -> Result<Vec<(Session, Arc<Entry>)>, Error> {
        let entries = self.shelf().await?.entries();
        let described = entries.into_iter().filter_map(|entry| {
            let session = entry.shared.get()?.view.read().clone();
            Some((session, entry))
        });
        Ok(described.collect())
    }

    pub(crate) fn searches(&self) -> &Semaphore {
        &self.inner.searches
    }

    /// One session as it is now.
    pub async fn get(&self, id: &SessionId) -> Result<Session, Error> {
        if let Some(entry) = self.shelf().await?.get(id) {
            self.catch_up(&entry).await;
        }
        Ok(self.shared(id).await?.view.read().clone())
    }

    /// How many sessions have an agent that runs, by agent.
    pub fn running(&self) -> HashMap<AgentName, u64> {
        let mut running = HashMap::new();
        for entry in self.inner.shelf.get().map(Shelf::entries).unwrap_or_default() {
            let state = entry.shared.get().map(|shared| shared.view.read().state);
            let runs = |state| {
                matches!(
                    state,
                    SessionState::Starting
                        | SessionState::Idle
                        | SessionState::Running
                        | SessionState::Waiting
                )
            };
            if state.is_some_and(runs) {
                *running.entry(entry.create.agent.clone()).or_default() += 1;
            }
        }
        running
    }

    /// The modes that sessions accept of an agent in `directory`.
    ///
    /// # Errors
    /// If there is no such agent or no such directory.
    pub async fn modes(&self, agent: &AgentName, directory: Option<&str>) -> Result<AgentModeList, Error> {
        let (agent, directory) = self.agent_in(agent, directory).await?;
        Ok(self.inner.launcher.modes(&agent, directory).await)
    }

    /// The models that an agent can use in `directory`.
    ///
    /// # Errors
    /// If there is no such agent or no such directory.
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

    /// Writes down a message for the agent.
    pub async fn send(
        &self,
        id: &SessionId,
        send: SendMessageRequest,
        key: Option<IdempotencyKey>,
    ) -> Result<MessageAccepted, Error> {
        self.ask_of(id, |reply| Msg::Send(send, key, reply)).await
    }

    /// What waits for its turn.
    pub async fn inputs(&self, id: &SessionId) -> Result<Vec<SessionInput>, Error> {
        self.ask_of(id, Msg::Inputs).await
    }

    /// Changes what an input says, while it waits.
    pub async fn edit(&self, id: &SessionId, input: InputId, edit: EditInputRequest) -> Result<(), Error> {
        let author = author(edit.author)?;
        self.ask_of(id, |reply| Msg::Edit(input, edit.message, author, reply)).await
    }

    /// Takes an input back, while it waits.
    pub async fn withdraw(&self, id: &SessionId, input: InputId, by: Option<Author>) -> Result<(), Error> {
        self.ask_of(id, |reply| Msg::Withdraw(input, by, reply)).await
    }

    /// Tells the agent to end its turn; nothing if none runs.
    pub async fn cancel(&self, id: &SessionId) -> Result<(), Error> {
        self.ask_of(id, Msg::Cancel).await
    }

    /// Answers a question.
    pub async fn answer(
        &self,
        id: &SessionId,
        wait: WaitId,
        reply: AnswerQuestionRequest,
    ) -> Result<(), Error> {
        let author = author(reply.author)?;
        self.ask_of(id, |done| Msg::Answer(wait, Answer::Answers(reply.answers), author, done))
            .await
            .map(drop)
    }

    /// Declines to answer a question.
    pub async fn reject(&self, id: &SessionId, wait: WaitId, by: Option<Author>) -> Result<(), Error> {
        let author = author(by)?;
        self.ask_of(id, |done| Msg::Answer(wait, Answer::Reject, author, done)).await.map(drop)
    }

    /// Answers a permission.
    pub async fn permit(
        &self,
        id: &SessionId,
        wait: WaitId,
        reply: AnswerPermissionRequest,
    ) -> Result<(), Error> {
        let author = author(reply.author)?;
        self.ask_of(id, |done| Msg::Answer(wait, Answer::Permission(reply.reply), author, done))
            .await
            .map(drop)
    }

    /// Every wait that is open, the oldest first.
    pub async fn waits(&self) -> Result<Vec<Wait>, Error> {
        Ok(self.board().await?.open())
    }

    /// Follows what becomes of the waits of all sessions, from those that are open now on.
    pub async fn waiting(&self) -> Result<Waiting, Error> {
        Ok(self.board().await?.follow())
    }

    /// One wait: open, or settled and with its settlement.
    ///
    /// # Errors
    /// If no session has it, or no longer has it.
    pub async fn wait(&self, id: WaitId) -> Result<Wait, Error> {
        let known = self.board().await?.session_of(id);
        for entry in self.shelf().await?.entries() {
            // Only this process remembers the session; after a restart, all of them are asked.
            if known.as_ref().is_some_and(|session| *session != entry.id) {
                continue;
            }
            let Some(shared) = entry.shared.get() else { continue };
            let stored = shared.journal.record(WAIT, id.to_string()).await?;
            let stored = stored.and_then(|stored| serde_json::from_slice::<KeptWait>(&stored).ok());
            if let Some(stored) = stored {
                return Ok(stored.wait);
            }
        }
        Err(Error::WaitNotFound(id))
    }

    /// Answers whatever is asked; how it was settled.
    pub async fn settle(&self, wait: WaitId, reply: AnswerWaitRequest) -> Result<Wait, Error> {
        let session = self.board().await?.session_of(wait).ok_or(Error::WaitNotFound(wait))?;
        let author = author(reply.author)?;
        self.ask_of(&session, |done| Msg::Answer(wait, reply.answer.into(), author, done)).await
    }

    /// What waits in all sessions, once it shows everything that anybody has read of.
    async fn board(&self) -> Result<&Arc<Board>, Error> {
        for entry in self.shelf().await?.entries() {
            self.catch_up(&entry).await;
        }
        Ok(&self.inner.board)
    }

    /// What all events so far come to.
    pub async fn snapshot(&self, id: &SessionId) -> Result<SessionSnapshot, Error> {
        self.ask_of(id, Msg::Snapshot).await
    }

    /// A page of the transcript after `after`, where to go on, and the newest event that is in it.
    pub async fn messages(
        &self,
        id: &SessionId,
        after: String,
        most: Option<u32>,
    ) -> Result<(Vec<Message>, Option<String>, u64), Error> {
        let seq = self.ask_of(id, Msg::Fold).await?;
        let shared = self.shared(id).await?;
        let most = most.unwrap_or(PAGE_MESSAGES_MAX).clamp(1, PAGE_MESSAGES_MAX);
        let (messages, next) = log::page(&shared.journal, after, most).await?;
        Ok((messages, next, seq))
    }

    /// The events after `offset`, as a JSON array, and whether there are more.
    pub async fn page(
        &self,
        id: &SessionId,
        offset: u64,
        limit: Option<usize>,
        include_raw: bool,
    ) -> Result<(BytesMut, bool), Error> {
        let journal = self.shared(id).await?.journal.clone();
        let limit = limit.unwrap_or(PAGE_EVENTS_MAX).clamp(1, PAGE_EVENTS_MAX);
        page::page(&journal, offset, limit, include_raw).await.map_err(|error| match error {
            PageError::Storage(error) => error.into(),
            PageError::Cursor => Error::Damaged(id.clone()),
        })
    }

    /// Follows a session: all events after `offset`.
    pub async fn reader(&self, id: &SessionId, offset: u64) -> Result<Readers, Error> {
        let reader = self.shared(id).await?.journal.reader(StartPosition::Resume(Seq::new(offset)));
        reader.map_err(|_| Error::Damaged(id.clone()))
    }

    /// Tells what was counted, and how it is with the sessions; before the first is needed there are none.
    pub fn register(&self, registry: &mut Registry) {
        self.inner.launcher.metrics.register(registry);
        let entries = self.inner.shelf.get().map(Shelf::entries).unwrap_or_default();
        let now = |shared: &Arc<Shared>| {
            let view = shared.view.read();
            (view.state, view.open_waits)
        };
        metrics::register_now(registry, entries.iter().filter_map(|entry| entry.shared.get()).map(now));
    }

    /// Ends a session and its agent, and forgets it.
    pub async fn delete(&self, id: &SessionId) -> Result<(), Error> {
        let shelf = self.shelf().await?;
        match shelf.get(id) {
            Some(entry) => self.delete_entry(shelf, &entry).await,
            None => Ok(()),
        }
    }

    async fn delete_entry(&self, shelf: &Shelf, entry: &Arc<Entry>) -> Result<(), Error> {
        let id = &entry.id;
        match self.ask(entry, |reply| Msg::Stop(Stop::Delete, reply)).await {
            // What cannot be read can be deleted all the same.
            Ok(()) | Err(Error::Damaged(_)) => {}
            Err(error) => return Err(error),
        }
        shelf.store.delete(id.as_str()).await?;
        let private = self.inner.launcher.private(id);
        // What is left of it is of no use to anybody, and is overwritten by a session of the same name.
        let _ = tokio::task::spawn_blocking(move || fs::remove_dir_all(private)).await;
        self.inner.board.forget(id);
        shelf.forget(entry);
        Ok(())
    }

    /// Ends all agents; the sessions stay.
    pub async fn shutdown(&self) {
        self.inner.stop.cancel();
        let Some(shelf) = self.inner.shelf.get() else { return self.inner.board.seal() };
        let mut stops = tokio::task::JoinSet::new();
        for entry in shelf.entries() {
            let worker = entry.door.lock().clone().filter(|worker| !worker.is_closed());
            let Some(worker) = worker else {
                // Nobody else tells its readers that nothing more comes.
                entry.shared.get().inspect(|shared| shared.journal.seal());
                continue;
            };
            stops.spawn(async move {
                let (reply, done) = oneshot::channel();
                if worker.send(Msg::Stop(Stop::Shutdown, reply)).await.is_ok() {
                    let _ = done.await;
                }
            });
        }
        stops.join_all().await;
        self.inner.workers.close();
        self.inner.workers.wait().await;
        self.inner.board.seal();
        self.inner.launcher.servers.stop().await;
    }

    /// An event is seen a moment before what it comes to: whoever has read it and asks is not told what was before. And
    /// what was under way when the daemon was last ended is gone on with first.
    async fn catch_up(&self, entry: &Arc<Entry>) {
        let behind =
            |shared: &Arc<Shared>| shared.view.read().newest_seq < shared.journal.bounds().newest.get();
        let unfinished = entry.unfinished.load(Ordering::Acquire);
        if !unfinished && !entry.shared.get().is_some_and(behind) {
            return;
        }
        // The worker answers once it has shown everything that it has written; one that ends shows nothing more.
        if let Err(error) = self.ask(entry, Msg::Inputs).await
            && unfinished
        {
            error!(session = %entry.id, %error, "could not restore a session");
        }
        entry.unfinished.store(false, Ordering::Release);
    }

    async fn ask_of<T>(&self, id: &SessionId, msg: impl FnOnce(Reply<T>) -> Msg) -> Result<T, Error> {
        let entry = self.shelf().await?.get(id).ok_or_else(|| Error::NotFound(id.clone()))?;
        self.ask(&entry, msg).await
    }

    pub(crate) async fn ask<T>(
        &self,
        entry: &Arc<Entry>,
        msg: impl FnOnce(Reply<T>) -> Msg,
    ) -> Result<T, Error> {
        let shared = entry.shared.get().ok_or_else(|| Error::NotFound(entry.id.clone()))?;
        let worker = self.door(entry, shared)?;
        let ending = || Error::Ending(entry.id.clone());
        let (reply, answer) = oneshot::channel();
        worker.send(msg(reply)).await.map_err(|_| ending())?;
        answer.await.map_err(|_| ending())?
    }

    /// The way to a session's worker, which is started if it is not there.
    fn door(&self, entry: &Entry, shared: &Arc<Shared>) -> Result<mpsc::Sender<Msg>, Error> {
        if self.inner.stop.is_cancelled() {
            return Err(Error::Ending(entry.id.clone()));
        }
        let mut door = entry.door.lock();
        if let Some(worker) = door.as_ref().filter(|worker| !worker.is_closed()) {
            return Ok(worker.clone());
        }
        let (tx, rx) = mpsc::channel(ASKS_MAX);
        let (shared, launcher) = (shared.clone(), self.inner.launcher.clone());
        let agent = entry.create.agent.clone();
        let work = async move {
            let agent = launcher.agent(&agent).await;
            match Worker::open(shared, launcher, agent, rx).await {
                Ok(worker) => worker.run().await,
                // The next one who asks makes it try again.
                Err((error, rx)) => refuse_all(rx, &error),
            }
        };
        self.inner.workers.spawn_on(work, &entry.thread);
        *door = Some(tx.clone());
        Ok(tx)
    }

    /// The journal of a session.
    pub(crate) async fn journal(&self, id: &SessionId) -> Result<DurableJournal, Error> {
        Ok(self.shared(id).await?.journal.clone())
    }

    async fn shared(&self, id: &SessionId) -> Result<Arc<Shared>, Error> {
        let entry = self.shelf().await?.get(id);
        entry.and_then(|entry| entry.shared.get().cloned()).ok_or_else(|| Error::NotFound(id.clone()))
    }

    async fn shelf(&self) -> Result<&Shelf, Error> {
        self.inner.shelf.get_or_try_init(|| Shelf::open(&self.inner.launcher, &self.inner.board)).await
    }
}

fn refuse_all(mut rx: mpsc::Receiver<Msg>, error: &Error) {
    rx.close();
    while let Ok(msg) = rx.try_recv() {
        msg.refuse(error.clone());
    }
}

fn author(given: Option<Author>) -> Result<Author, Error> {
    given.map_or_else(nobody, Ok)
}
