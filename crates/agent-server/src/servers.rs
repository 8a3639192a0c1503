//! All servers.

use std::{collections::HashMap, ffi::OsString, sync::Arc, time::Duration};

use parking_lot::Mutex;
use process::ProcessSpec;
use tokio::sync::{mpsc, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Attached, Error, server::Server};

/// How many may wait for a server to answer its door; more wait before it.
const WAITING_MAX: usize = 64;

/// How often a server may be gone when it is used, each time at the very moment in which it is asked.
const TRIES_MAX: usize = 3;

/// The servers that run; clones are the same.
#[derive(Debug, Clone)]
pub struct Servers {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    doors: Mutex<HashMap<Key, mpsc::Sender<Attach>>>,
    grace: Duration,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// Somebody wants to use a server.
pub(super) type Attach = oneshot::Sender<Result<Attached, Error>>;

/// What is the same for all who share a server. Where it was started is not: it serves any directory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    env_remove: Vec<OsString>,
    env_clear: bool,
}

impl Key {
    fn new(spec: &ProcessSpec) -> Self {
        let (mut env, mut env_remove) = (spec.env.clone(), spec.env_remove.clone());
        env.sort();
        env_remove.sort();
        Self {
            program: spec.program.clone(),
            args: spec.args.clone(),
            env,
            env_remove,
            env_clear: spec.env_clear,
        }
    }
}

impl Servers {
    /// None runs yet. One that nobody has used for `grace` is stopped.
    pub fn new(grace: Duration) -> Self {
        let doors = Mutex::new(HashMap::new());
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        Self { shared: Arc::new(Shared { doors, grace, tasks, stop }) }
    }

    /// Uses the server that `spec` starts: the one that runs, or a new one. What it tells from now on is not missed.
    ///
    /// `spec` must not name a password; the server gets one of its own.
    ///
    /// # Errors
    /// [`Error`], if it cannot be started. The next use tries again.
    pub async fn attach(&self, spec: ProcessSpec) -> Result<Attached, Error> {
        let key = Key::new(&spec);
        for _ in 0..TRIES_MAX {
            if self.shared.stop.is_cancelled() {
                break;
            }
            let door = self.door(&key, &spec);
            let (reply, answer) = oneshot::channel();
            if door.send(reply).await.is_ok()
                && let Ok(answer) = answer.await
            {
                return answer;
            }
            // It has ended meanwhile: the next one gets a server of its own.
        }
        Err(Error::Stopped)
    }

    /// Stops all servers, with all that they have started, and waits until they are gone. None can be used after it.
    pub async fn stop(&self) {
        self.shared.stop.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    /// How to ask the owner of a server, who is there from now on if it was not.
    fn door(&self, key: &Key, spec: &ProcessSpec) -> mpsc::Sender<Attach> {
        let mut doors = self.shared.doors.lock();
        doors.retain(|_, door| !door.is_closed());
        if let Some(door) = doors.get(key) {
            return door.clone();
        }
        let (door, asked) = mpsc::channel(WAITING_MAX);
        doors.insert(key.clone(), door.clone());
        let server = Server::new(spec.clone(), self.shared.grace, asked, self.shared.stop.child_token());
        drop(self.shared.tasks.spawn(server.run()));
        door
    }
}
