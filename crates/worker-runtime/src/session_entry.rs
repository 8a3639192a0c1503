//! A session in the list of a daemon, and the way to its worker.

use std::sync::{Arc, atomic::AtomicBool};

use parking_lot::Mutex;
use protocol::{SessionId, sessions::CreateSessionRequest};
use tokio::{
    runtime::Handle,
    sync::{OnceCell, mpsc},
};

use crate::{
    Error, session_handle::SessionHandle, session_secrets::SessionSecrets, stored_session::StoredOptions,
    worker_command::WorkerCommand,
};

/// A session in the list of a daemon, and the way to its worker.
pub(crate) struct SessionEntry {
    pub(crate) id: SessionId,
    /// How it was created, or why its stored state cannot be read. An unreadable session stays in the list and keeps its id, so
    /// that no other session writes to its journal.
    parameters: Result<SessionParameters, Error>,
    /// Set once the session is stored.
    pub(crate) handle: OnceCell<Arc<SessionHandle>>,
    /// The commands of its worker, while it has one.
    pub(crate) commands: Mutex<Option<mpsc::Sender<WorkerCommand>>>,
    /// The runtime of its worker.
    pub(crate) runtime: Handle,
    /// Something was in progress when the daemon last ended, and the worker has not been started since.
    pub(crate) unfinished: AtomicBool,
}

/// The parameters that tell whether a request for an existing session repeats the one that created it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SessionParameters {
    pub(crate) options: StoredOptions,
    pub(crate) secrets: SessionSecrets,
}

impl SessionEntry {
    /// A session that is not stored yet.
    pub(crate) fn new(id: SessionId, parameters: SessionParameters, runtime: Handle) -> Self {
        Self {
            id,
            parameters: Ok(parameters),
            handle: OnceCell::new(),
            commands: Mutex::default(),
            runtime,
            unfinished: AtomicBool::new(false),
        }
    }

    /// A stored session.
    pub(crate) fn restored(
        id: SessionId,
        parameters: Result<SessionParameters, Error>,
        handle: Arc<SessionHandle>,
        unfinished: bool,
        runtime: Handle,
    ) -> Self {
        Self {
            id,
            parameters,
            handle: OnceCell::new_with(Some(handle)),
            commands: Mutex::default(),
            runtime,
            unfinished: AtomicBool::new(unfinished),
        }
    }

    /// How the session was created.
    ///
    /// # Errors
    /// If its stored state cannot be read.
    pub(crate) fn parameters(&self) -> Result<&SessionParameters, Error> {
        self.parameters.as_ref().map_err(Error::clone)
    }
}

impl SessionParameters {
    pub(crate) fn new(request: &CreateSessionRequest) -> Self {
        Self { options: StoredOptions::new(request), secrets: SessionSecrets::new(request) }
    }
}
