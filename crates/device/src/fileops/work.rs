//! What blocks: it is done on the blocking threads of the runtime, and is gone when nobody wants it.

use protocol::relay::{RelayError, RelayErrorCode};
use tokio::task::{JoinError, JoinHandle};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

/// What blocks, all that there is of it.
#[derive(Debug, Default)]
pub(super) struct Work {
    tasks: TaskTracker,
    /// Cancelled when nothing is wanted any more.
    ending: CancellationToken,
}

/// Something that blocks. Dropped, it is stopped.
pub(super) struct Task<T> {
    done: JoinHandle<Result<T, RelayError>>,
    stop: CancellationToken,
    _stopping: DropGuard,
}

impl Work {
    /// Does something until the request is cancelled: it ends soon then, and only then is that told.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        cancelled: &CancellationToken,
        work: impl FnOnce(&CancellationToken) -> Result<T, RelayError> + Send + 'static,
    ) -> Result<T, RelayError> {
        let mut task = self.begin(work);
        tokio::select! {
            () = cancelled.cancelled() => task.stop().await,
            done = task.done() => done,
        }
    }

    /// Begins something that looks, whenever it can, whether it was stopped.
    pub(super) fn begin<T: Send + 'static>(
        &self,
        work: impl FnOnce(&CancellationToken) -> Result<T, RelayError> + Send + 'static,
    ) -> Task<T> {
        let stop = self.ending.child_token();
        let stopped = stop.clone();
        let done = self.tasks.spawn_blocking(move || work(&stopped));
        Task { done, _stopping: stop.clone().drop_guard(), stop }
    }

    /// Stops everything, and returns when nothing of it goes on.
    pub(super) async fn end(&self) {
        self.ending.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl<T> Task<T> {
    /// What comes of it.
    pub(super) async fn done(&mut self) -> Result<T, RelayError> {
        let failed =
            |_: JoinError| Err(RelayError::new(RelayErrorCode::ProviderError, "the file provider failed"));
        (&mut self.done).await.unwrap_or_else(failed)
    }

    /// The same, now that nobody wants more of it.
    pub(super) async fn stop(&mut self) -> Result<T, RelayError> {
        self.stop.cancel();
        self.done().await
    }
}
