//! The thread on which all workers run.
//!
//! It is not one of the threads that serve requests, so that the output of agents is stored while readers are served.

use std::io;

use tokio::runtime::{Builder, Handle, Runtime};

/// The thread on which all workers run. Dropping it does not wait for them; the shutdown of the sessions does.
pub(crate) struct SessionThread(Option<Runtime>);

impl SessionThread {
    pub(crate) fn start() -> io::Result<Self> {
        // A multi-threaded runtime drives its own I/O; a current-thread one needs a caller in `block_on`.
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("sessions").enable_all().build()?;
        Ok(Self(Some(runtime)))
    }

    /// The handle for spawning tasks on the thread.
    pub(crate) fn handle(&self) -> Handle {
        self.0.as_ref().map_or_else(Handle::current, |runtime| runtime.handle().clone())
    }
}

impl Drop for SessionThread {
    fn drop(&mut self) {
        // Dropping a runtime waits for its tasks, which panics inside another runtime.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
