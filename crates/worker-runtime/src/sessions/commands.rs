//! Sends commands to the workers of sessions, and starts the workers for them.

use std::sync::{Arc, atomic::Ordering};

use protocol::{SessionId, sessions::AgentError};
use tokio::sync::{mpsc, oneshot};
use tracing::error;

use super::Sessions;
use crate::{
    Error,
    error::chain,
    session_entry::SessionEntry,
    session_handle::SessionHandle,
    worker::Worker,
    worker_command::{CommandReply, WorkerCommand},
};

/// The number of commands that may wait for a worker, which handles one in the time of a commit.
const COMMANDS_MAX: usize = 256;

impl Sessions {
    /// Waits until the published state of a session includes all events that readers may have seen, and starts the worker of a
    /// session in which something was in progress when the daemon last ended.
    ///
    /// Readers get an event as soon as it is stored, and the worker publishes the state a moment later. Without this, a client that
    /// reacts to an event could read the state before it.
    pub(super) async fn catch_up(&self, entry: &Arc<SessionEntry>) {
        let unfinished = entry.unfinished.load(Ordering::Acquire);
        if !unfinished && !entry.handle.get().is_some_and(|handle| handle.is_behind()) {
            return;
        }
        // The worker replies after it has published every commit before. One that stops publishes no more.
        if let Err(error) = self.send_command(entry, WorkerCommand::ListInputs).await
            && unfinished
        {
            error!(session = %entry.id, %error, "could not restore a session");
        }
        entry.unfinished.store(false, Ordering::Release);
    }

    /// Sends a command to the worker of a session and waits for its reply.
    pub(super) async fn command<T>(
        &self,
        id: &SessionId,
        command: impl FnOnce(CommandReply<T>) -> WorkerCommand,
    ) -> Result<T, Error> {
        let entry = self.store().await?.get(id).ok_or_else(|| Error::NotFound(id.clone()))?;
        self.send_command(&entry, command).await
    }

    pub(super) async fn send_command<T>(
        &self,
        entry: &Arc<SessionEntry>,
        command: impl FnOnce(CommandReply<T>) -> WorkerCommand,
    ) -> Result<T, Error> {
        let handle = entry.handle.get().ok_or_else(|| Error::NotFound(entry.id.clone()))?;
        let worker = self.worker(entry, handle)?;
        let ending = || Error::Ending(entry.id.clone());
        let (reply, answer) = oneshot::channel();
        worker.send(command(reply)).await.map_err(|_| ending())?;
        answer.await.map_err(|_| ending())?
    }

    /// The command channel of a session's worker, which is started if it is not running.
    fn worker(
        &self,
        entry: &SessionEntry,
        handle: &Arc<SessionHandle>,
    ) -> Result<mpsc::Sender<WorkerCommand>, Error> {
        if self.inner.shutdown.is_cancelled() {
            return Err(Error::Ending(entry.id.clone()));
        }
        let agent = entry.parameters()?.options.agent.clone();
        let mut commands = entry.commands.lock();
        if let Some(worker) = commands.as_ref().filter(|worker| !worker.is_closed()) {
            return Ok(worker.clone());
        }
        let (sender, receiver) = mpsc::channel(COMMANDS_MAX);
        let (handle, launcher) = (handle.clone(), self.inner.launcher.clone());
        let work = async move {
            let definition = launcher.definition(&agent).await;
            match Worker::open(handle.clone(), launcher, definition, receiver).await {
                Ok(worker) => worker.run().await,
                // The next command tries again.
                Err((error, receiver)) => {
                    handle.view.write().error = Some(AgentError::StorageError { message: chain(&error) });
                    reject_all(receiver, &error);
                }
            }
        };
        self.inner.workers.spawn_on(work, &entry.runtime);
        *commands = Some(sender.clone());
        Ok(sender)
    }
}

fn reject_all(mut commands: mpsc::Receiver<WorkerCommand>, error: &Error) {
    commands.close();
    while let Ok(command) = commands.try_recv() {
        command.reject(error.clone());
    }
}
