//! The thread that all workers run on.
//!
//! It is none of those that answer requests: what agents say is heard and written down beside what readers are sent.

use std::io;

use tokio::runtime::{Builder, Handle, Runtime};

/// The thread. Dropping it leaves the workers where they are; they are ended before.
pub(crate) struct Thread(Option<Runtime>);

impl Thread {
    pub(crate) fn start() -> io::Result<Self> {
        // One that drives its own input and output, wherever it is spawned to from.
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("sessions").enable_all().build()?;
        Ok(Self(Some(runtime)))
    }

    /// The way to run something on it.
    pub(crate) fn handle(&self) -> Handle {
        self.0.as_ref().map_or_else(Handle::current, |runtime| runtime.handle().clone())
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // It may be dropped where one must not wait.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
