//! Runtimes: where workers are watched.

use client::{Client, Watched};
use futures_util::future::BoxFuture;
use protocol::{Kind, RuntimeId, SessionId};
use server::{Chain, Refusal};
use tracing::debug;

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
pub struct Remote(Client);

impl Remote {
    /// The one that `client` speaks to.
    pub fn new(client: Client) -> Self {
        Self(client)
    }
}

impl Runtime for Remote {
    fn watch<'a>(
        &'a self,
        worker: &'a SessionId,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn Upstream>, Down>> {
        Box::pin(async move {
            match self.0.workers().watch(worker, cursor).await {
                Ok(watched) => Ok(Box::new(watched) as Box<dyn Upstream>),
                Err(error) => Err(down(&error)),
            }
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

/// What a runtime refused, as it said it; or that it cannot be reached, without where it is.
pub(crate) fn refused(id: &RuntimeId, error: &client::Error) -> Refusal {
    if let client::Error::Problem(refusal) = error
        && let Some(kind) = refusal.kind.filter(|kind| *kind != Kind::Unauthorized)
    {
        return Refusal::new(kind, refusal.detail.clone());
    }
    debug!(runtime = %id, error = %Chain(error), "a runtime was asked in vain");
    Refusal::new(Kind::RuntimeUnavailable, format!("the runtime `{id}` cannot be reached"))
}
