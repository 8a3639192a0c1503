//! Runtimes: where workers are watched.

use client::{Client, Watched};
use futures_util::future::BoxFuture;
use protocol::SessionId;

use crate::reach::Reach;

/// A runtime whose workers can be watched, wherever it runs.
pub trait Runtime: Send + Sync + 'static {
    /// Begins to watch a worker, after the place that the runtime calls `cursor`.
    fn watch<'a>(
        &'a self,
        worker: &'a SessionId,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn Upstream>, Down>>;
}

/// What a runtime says of a worker.
pub trait Upstream: Send {
    /// The next frame, as text; nothing once the stream was closed. It ends by itself when the runtime is lost. Cancel
    /// safe.
    fn next(&mut self) -> BoxFuture<'_, Result<Option<String>, Down>>;
}

/// Why a worker cannot be watched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Down {
    /// The runtime has no such worker.
    #[error("there is no such worker")]
    NoWorker,
    /// The runtime cannot be reached, or does not let us in.
    #[error("the runtime cannot be reached")]
    Unreachable,
    /// It said something that is no frame.
    #[error("the runtime said something that cannot be understood")]
    Malformed,
}

/// A runtime that is reached over the network.
#[derive(Debug)]
pub struct Remote {
    client: Client,
    reach: Reach,
}

impl Remote {
    /// The one that `client` speaks to.
    pub fn new(client: Client) -> Self {
        Self::noting(client, Reach::default())
    }

    /// The one that `client` speaks to, noting whether it can be reached.
    pub(crate) fn noting(client: Client, reach: Reach) -> Self {
        Self { client, reach }
    }
}

impl Runtime for Remote {
    fn watch<'a>(
        &'a self,
        worker: &'a SessionId,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn Upstream>, Down>> {
        Box::pin(async move {
            let watched = self.client.workers().watch(worker, cursor).await;
            let watched = watched.map_err(|error| down(&error));
            self.reach.note(!matches!(watched, Err(Down::Unreachable)));
            watched.map(|watched| Box::new(watched) as Box<dyn Upstream>)
        })
    }
}

impl Upstream for Watched {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<String>, Down>> {
        Box::pin(async {
            self.text().await.map(|text| text.map(|text| text.to_string())).map_err(|error| down(&error))
        })
    }
}

/// What is wrong, without where: the error may name the address.
fn down(error: &client::Error) -> Down {
    match error {
        client::Error::Unexpected { .. } => Down::Malformed,
        // Whatever a runtime has nothing at is no worker (observation #65).
        client::Error::Problem(refusal) if refusal.status == 404 => Down::NoWorker,
        _ => Down::Unreachable,
    }
}
