//! All servers of the daemon.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use process::ProcessSpec;
use tokio::sync::{mpsc, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Error, ServerAttachment, attachment::AttachRequest, server_key::ServerKey, server_owner::ServerOwner,
};

/// How many sessions may queue for the owner of a server. Further sessions wait to get into the queue.
const QUEUE_MAX: usize = 64;

/// How often a session tries to attach. Each further attempt means that a server exited in the very moment of the one before.
const ATTEMPTS_MAX: usize = 3;

/// The running servers. Clones share them.
#[derive(Debug, Clone)]
pub struct AgentServers {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    owners: Mutex<HashMap<ServerKey, mpsc::Sender<AttachRequest>>>,
    grace: Duration,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl AgentServers {
    /// Starts without servers. A server that has been without attachments for `grace` is stopped.
    pub fn new(grace: Duration) -> Self {
        let owners = Mutex::new(HashMap::new());
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        Self { inner: Arc::new(Inner { owners, grace, tasks, stop }) }
    }

    /// Attaches to the server that `spec` starts, or starts it. The attachment misses no event from now on.
    ///
    /// `spec` must not contain a password; the server gets one of its own.
    ///
    /// # Errors
    /// [`Error`], if the server cannot be started. The next call tries again.
    pub async fn attach(&self, spec: ProcessSpec) -> Result<ServerAttachment, Error> {
        let key = ServerKey::new(&spec);
        for _ in 0..ATTEMPTS_MAX {
            if self.inner.stop.is_cancelled() {
                break;
            }
            let owner = self.owner(&key, &spec);
            let (request, attachment) = oneshot::channel();
            if owner.send(request).await.is_ok()
                && let Ok(attachment) = attachment.await
            {
                return attachment;
            }
            // This server has exited in the meantime: the next attempt starts another.
        }
        Err(Error::Stopped)
    }

    /// Stops all servers with all of their processes, and waits for their exit. Later calls of [`Self::attach`] fail.
    pub async fn stop(&self) {
        self.inner.stop.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }

    /// The queue of a server's owner task, which is spawned if there is none.
    fn owner(&self, key: &ServerKey, spec: &ProcessSpec) -> mpsc::Sender<AttachRequest> {
        let mut owners = self.inner.owners.lock();
        owners.retain(|_, owner| !owner.is_closed());
        if let Some(owner) = owners.get(key) {
            return owner.clone();
        }
        let (queue, requests) = mpsc::channel(QUEUE_MAX);
        owners.insert(key.clone(), queue.clone());
        let stop = self.inner.stop.child_token();
        let owner = ServerOwner::new(spec.clone(), self.inner.grace, requests, stop);
        drop(self.inner.tasks.spawn(owner.run()));
        queue
    }
}
