//! All processes that users run.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use jiff::Timestamp;
use journal::{Ring, Seq};
use parking_lot::Mutex;
use protocol::{
    ProcessId,
    processes::{ProcessLogPage, ProcessSignal, StartProcessRequest, TerminalSize, UserProcess},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::info;

use crate::{
    Attachment, Config, Error, Follower, Input,
    entry::{Entry, Terminal},
    frame::Encoder,
    owner::Owner,
    page,
    start::{self, Started},
};

/// All processes; clones are handles on the same ones.
#[derive(Clone)]
pub struct Processes {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    known: Mutex<Known>,
    /// One for each that may run.
    places: Arc<Semaphore>,
    tasks: TaskTracker,
}

#[derive(Default)]
struct Known {
    /// Ids sort by birth.
    entries: BTreeMap<ProcessId, Arc<Entry>>,
    closed: bool,
}

impl Processes {
    /// None yet.
    pub fn new(config: Config) -> Self {
        let places = Arc::new(Semaphore::new(config.limits.processes));
        let inner = Inner { config, known: Mutex::default(), places, tasks: TaskTracker::new() };
        Self { inner: Arc::new(inner) }
    }

    /// Starts a process. If the future is dropped before it is ready, there is none.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::Start`], [`Error::TooMany`] and [`Error::ShuttingDown`].
    pub async fn start(&self, start: StartProcessRequest) -> Result<UserProcess, Error> {
        let place = self.inner.places.clone().try_acquire_owned();
        let place = place.map_err(|_| Error::TooMany(self.inner.config.limits.processes))?;
        let spec = start::spec(&start, &self.inner.config).await?;
        let cwd = spec.cwd.as_deref().map(|cwd| cwd.to_string_lossy().into_owned()).unwrap_or_default();
        let started = start::spawn(&spec, start.terminal).await?;
        self.adopt(start, cwd, started, place)
    }

    /// Makes the process known and gives it an owner.
    fn adopt(
        &self,
        start: StartProcessRequest,
        cwd: String,
        started: Started,
        place: OwnedSemaphorePermit,
    ) -> Result<UserProcess, Error> {
        let Started { stdin, outputs, control, terminal } = started;
        let (journal, ring) = Ring::new(self.inner.config.limits.log);
        let entry = Arc::new(Entry {
            id: ProcessId::mint(),
            command: start.command,
            args: start.args,
            cwd,
            started_at: Timestamp::now(),
            stdin,
            control,
            terminal: terminal.map(|(screen, size)| Mutex::new(Terminal { screen, size })),
            ring,
            exit: OnceLock::new(),
            ended: CancellationToken::new(),
            stopping: CancellationToken::new(),
        });
        let process = entry.describe();
        let mut known = self.inner.known.lock();
        if known.closed {
            // Dropping its handles kills it.
            return Err(Error::ShuttingDown);
        }
        known.entries.insert(entry.id, entry.clone());
        let owner = Owner { entry, outputs, journal, encoder: Encoder::default() };
        let inner = self.inner.clone();
        self.inner.tasks.spawn(async move {
            let id = owner.entry.id;
            owner.run().await;
            drop(place);
            inner.forget_the_oldest();
            info!(process = %id, "a process ended");
        });
        drop(known);
        info!(process = %process.id, pid = process.pid, "a process was started");
        Ok(process)
    }

    /// Every process that was started and not forgotten, oldest first.
    pub fn list(&self) -> Vec<UserProcess> {
        self.inner.known.lock().entries.values().map(|entry| entry.describe()).collect()
    }

    /// One process as it is now.
    ///
    /// # Errors
    /// [`Error::NotFound`], as all that follows.
    pub fn get(&self, id: ProcessId) -> Result<UserProcess, Error> {
        Ok(self.entry(id)?.describe())
    }

    /// Up to `limit` pieces of what it wrote after `after`, or from the oldest that is kept, without waiting.
    pub fn logs(&self, id: ProcessId, after: Option<Seq>, limit: usize) -> Result<ProcessLogPage, Error> {
        Ok(page::read(&self.entry(id)?.ring, after, limit))
    }

    /// Follows what it writes after `after`, or all that is kept, to its end.
    pub fn follow(&self, id: ProcessId, after: Option<Seq>) -> Result<Follower, Error> {
        Ok(Follower::new(&self.entry(id)?.ring, after))
    }

    /// Writes to its input, without waiting for it to read.
    ///
    /// # Errors
    /// [`Error::Busy`] when it does not read what it was sent before, [`Error::InputClosed`] and [`Error::Ended`].
    pub fn input(&self, id: ProcessId, bytes: Bytes) -> Result<(), Error> {
        self.entry(id)?.input(bytes)
    }

    /// Closes its input once all that was sent is written. A terminal cannot be closed: it is sent the character that
    /// stands for the end of the input, Ctrl-D.
    pub fn close_input(&self, id: ProcessId) -> Result<(), Error> {
        self.entry(id)?.close_input()
    }

    /// Signals it and its group.
    ///
    /// # Errors
    /// [`Error::Ended`] and [`Error::Refused`].
    pub fn signal(&self, id: ProcessId, signal: ProcessSignal) -> Result<(), Error> {
        self.entry(id)?.signal(signal)
    }

    /// Changes the size of its terminal.
    ///
    /// # Errors
    /// [`Error::NoTerminal`], [`Error::Ended`], [`Error::Invalid`] and [`Error::Refused`].
    pub fn resize(&self, id: ProcessId, size: TerminalSize) -> Result<(), Error> {
        self.entry(id)?.resize(size)
    }

    /// Waits for its end, but no longer than `limit`: the process as it is then, which may still run.
    pub async fn wait(&self, id: ProcessId, limit: Duration) -> Result<UserProcess, Error> {
        let entry = self.entry(id)?;
        let _ = tokio::time::timeout(limit, entry.ended.cancelled()).await;
        Ok(entry.describe())
    }

    /// Both directions of its terminal: what it shows after `after`, or all that is kept, and what is typed.
    ///
    /// # Errors
    /// [`Error::NoTerminal`].
    pub fn attach(&self, id: ProcessId, after: Option<Seq>) -> Result<Attachment, Error> {
        let entry = self.entry(id)?;
        if entry.terminal.is_none() {
            return Err(Error::NoTerminal(id));
        }
        Ok(Attachment { events: Follower::new(&entry.ring, after), input: Input { entry } })
    }

    /// Ends the process, if it is there, with everyone it has started, and forgets it. What was begun goes on when the
    /// future is dropped.
    pub async fn delete(&self, id: ProcessId) {
        let Ok(entry) = self.entry(id) else { return };
        let inner = self.inner.clone();
        let deletion = self.inner.tasks.spawn(async move {
            entry.stop().await;
            let forgotten = inner.known.lock().entries.remove(&id);
            drop(forgotten);
        });
        // It fails only with the runtime, which takes the processes with it.
        let _ = deletion.await;
    }

    /// Starts none any more, ends all side by side, and waits until no process is left.
    pub async fn shutdown(&self) {
        let all: Vec<_> = {
            let mut known = self.inner.known.lock();
            known.closed = true;
            known.entries.values().cloned().collect()
        };
        let mut stops = tokio::task::JoinSet::new();
        for entry in all {
            stops.spawn(async move { entry.stop().await });
        }
        stops.join_all().await;
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
        let forgotten = std::mem::take(&mut self.inner.known.lock().entries);
        drop(forgotten);
    }

    fn entry(&self, id: ProcessId) -> Result<Arc<Entry>, Error> {
        self.inner.known.lock().entries.get(&id).cloned().ok_or(Error::NotFound(id))
    }
}

impl Inner {
    /// Forgets who ended first while too many that have ended are kept. Whoever they left behind is killed.
    fn forget_the_oldest(&self) {
        let mut forgotten = Vec::new();
        let mut known = self.known.lock();
        let mut ended: Vec<_> =
            known.entries.values().filter_map(|entry| Some((entry.exit.get()?.at, entry.id))).collect();
        ended.sort_unstable();
        let excess = ended.len().saturating_sub(self.config.limits.exited);
        for (_, id) in ended.into_iter().take(excess) {
            forgotten.extend(known.entries.remove(&id));
        }
        drop(known);
        // Outside the lock: the last handle kills.
        drop(forgotten);
    }
}
