//! The table of all user processes.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use jiff::Timestamp;
use journal::{RingJournal, Seq};
use parking_lot::Mutex;
use protocol::{
    ProcessId,
    processes::{ProcessLogPage, ProcessSignal, StartProcessRequest, TerminalSize, UserProcess},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::info;

use crate::{
    AttachmentInput, Config, Error, LogFollower, TerminalAttachment,
    log_frame::LogEncoder,
    log_page,
    log_recorder::LogRecorder,
    process_entry::ProcessEntry,
    start::{self, StartedProcess},
};

/// All user processes; clones are handles to the same table.
#[derive(Clone)]
pub struct UserProcesses {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    table: Mutex<ProcessTable>,
    /// One permit per process that may run.
    run_permits: Arc<Semaphore>,
    tasks: TaskTracker,
}

#[derive(Default)]
struct ProcessTable {
    /// Ordered by start time, as ids are.
    entries: BTreeMap<ProcessId, Arc<ProcessEntry>>,
    closed: bool,
}

impl UserProcesses {
    /// An empty table.
    pub fn new(config: Config) -> Self {
        let run_permits = Arc::new(Semaphore::new(config.limits.processes));
        let inner = Inner { config, table: Mutex::default(), run_permits, tasks: TaskTracker::new() };
        Self { inner: Arc::new(inner) }
    }

    /// Starts a process. If the future is dropped before it is ready, no process remains.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::Start`], [`Error::TooMany`] and [`Error::ShuttingDown`].
    pub async fn start(&self, start: StartProcessRequest) -> Result<UserProcess, Error> {
        let permit = self.inner.run_permits.clone().try_acquire_owned();
        let permit = permit.map_err(|_| Error::TooMany(self.inner.config.limits.processes))?;
        let spec = start::build_spec(&start, &self.inner.config).await?;
        let cwd = spec.cwd.as_deref().map(|cwd| cwd.to_string_lossy().into_owned()).unwrap_or_default();
        let started = start::spawn(&spec, start.terminal).await?;
        self.adopt(start, cwd, started, permit)
    }

    /// Adds the process to the table and starts its recorder.
    fn adopt(
        &self,
        start: StartProcessRequest,
        cwd: String,
        started: StartedProcess,
        permit: OwnedSemaphorePermit,
    ) -> Result<UserProcess, Error> {
        let StartedProcess { stdin, outputs, control, terminal } = started;
        let (journal, ring) = RingJournal::new(self.inner.config.limits.log);
        let entry = Arc::new(ProcessEntry {
            id: ProcessId::mint(),
            command: start.command,
            args: start.args,
            cwd,
            started_at: Timestamp::now(),
            stdin,
            control,
            terminal: terminal.map(Mutex::new),
            ring,
            exit: OnceLock::new(),
            ended: CancellationToken::new(),
            stopping: CancellationToken::new(),
        });
        let process = entry.describe();
        let mut table = self.inner.table.lock();
        if table.closed {
            // Dropping its handles kills the process.
            return Err(Error::ShuttingDown);
        }
        table.entries.insert(entry.id, entry.clone());
        let recorder = LogRecorder { entry, outputs, journal, encoder: LogEncoder::default() };
        let inner = self.inner.clone();
        self.inner.tasks.spawn(async move {
            let id = recorder.entry.id;
            recorder.run().await;
            drop(permit);
            inner.evict_exited();
            info!(process = %id, "process exited");
        });
        drop(table);
        info!(process = %process.id, pid = process.pid, "process started");
        Ok(process)
    }

    /// All processes in the table, oldest first.
    pub fn list(&self) -> Vec<UserProcess> {
        self.inner.table.lock().entries.values().map(|entry| entry.describe()).collect()
    }

    /// The current state of one process.
    ///
    /// # Errors
    /// [`Error::NotFound`], as for all methods below.
    pub fn get(&self, id: ProcessId) -> Result<UserProcess, Error> {
        Ok(self.entry(id)?.describe())
    }

    /// Up to `limit` pieces of output after `after`, or from the oldest retained one, without waiting.
    pub fn logs(&self, id: ProcessId, after: Option<Seq>, limit: usize) -> Result<ProcessLogPage, Error> {
        Ok(log_page::read(&self.entry(id)?.ring, after, limit))
    }

    /// Follows its output after `after`, or all that is retained, until it exits.
    pub fn follow(&self, id: ProcessId, after: Option<Seq>) -> Result<LogFollower, Error> {
        Ok(LogFollower::new(&self.entry(id)?.ring, after))
    }

    /// Sends input, without waiting for the process to read it.
    ///
    /// # Errors
    /// [`Error::Busy`] when it does not read earlier input, [`Error::InputClosed`] and [`Error::Ended`].
    pub fn input(&self, id: ProcessId, bytes: Bytes) -> Result<(), Error> {
        self.entry(id)?.send_input(bytes)
    }

    /// Closes its input after the queued input was written. The input of a terminal cannot be closed; it gets Ctrl-D, the
    /// character for the end of the input.
    pub fn close_input(&self, id: ProcessId) -> Result<(), Error> {
        self.entry(id)?.close_input()
    }

    /// Signals its process group.
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

    /// Waits for its exit, at most for `limit`, and returns its state then; it may still be running.
    pub async fn wait(&self, id: ProcessId, limit: Duration) -> Result<UserProcess, Error> {
        let entry = self.entry(id)?;
        let _ = tokio::time::timeout(limit, entry.ended.cancelled()).await;
        Ok(entry.describe())
    }

    /// Attaches to its terminal: the output after `after`, or all that is retained, and the input.
    ///
    /// # Errors
    /// [`Error::NoTerminal`].
    pub fn attach(&self, id: ProcessId, after: Option<Seq>) -> Result<TerminalAttachment, Error> {
        let entry = self.entry(id)?;
        if entry.terminal.is_none() {
            return Err(Error::NoTerminal(id));
        }
        Ok(TerminalAttachment {
            events: LogFollower::new(&entry.ring, after),
            input: AttachmentInput { entry },
        })
    }

    /// Stops the process, if it exists, with all its descendants, and removes it. The deletion continues if the future is
    /// dropped.
    pub async fn delete(&self, id: ProcessId) {
        let Ok(entry) = self.entry(id) else { return };
        let inner = self.inner.clone();
        let deletion = self.inner.tasks.spawn(async move {
            entry.stop().await;
            let removed = inner.table.lock().entries.remove(&id);
            drop(removed);
        });
        // It fails only when the runtime shuts down, which kills the processes.
        let _ = deletion.await;
    }

    /// Rejects new processes, stops all concurrently, and waits until none is left.
    pub async fn shutdown(&self) {
        let all: Vec<_> = {
            let mut table = self.inner.table.lock();
            table.closed = true;
            table.entries.values().cloned().collect()
        };
        let mut stops = tokio::task::JoinSet::new();
        for entry in all {
            stops.spawn(async move { entry.stop().await });
        }
        stops.join_all().await;
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
        let removed = std::mem::take(&mut self.inner.table.lock().entries);
        drop(removed);
    }

    fn entry(&self, id: ProcessId) -> Result<Arc<ProcessEntry>, Error> {
        self.inner.table.lock().entries.get(&id).cloned().ok_or(Error::NotFound(id))
    }
}

impl Inner {
    /// Removes the processes that exited first while there are too many exited ones. Their remaining descendants are killed.
    fn evict_exited(&self) {
        let mut evicted = Vec::new();
        let mut table = self.table.lock();
        let mut ended: Vec<_> = table
            .entries
            .values()
            .filter_map(|entry| Some((entry.exit.get()?.exited_at, entry.id)))
            .collect();
        ended.sort_unstable();
        let excess = ended.len().saturating_sub(self.config.limits.exited);
        for (_, id) in ended.into_iter().take(excess) {
            evicted.extend(table.entries.remove(&id));
        }
        drop(table);
        // After releasing the lock: dropping the last handle of a process kills its group.
        drop(evicted);
    }
}
