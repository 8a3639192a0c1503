//! A runtime that has called: it is asked through the tunnel that its daemon made.

use std::time::Duration;

use axum::body::Body;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use protocol::info::HealthStatus;
use server::ServerWebSocket;
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::debug;
use tunnel::{TunnelClient, TunnelError};
use websocket::KeepAlive;

use super::{Down, Runtime, ask};

/// How long after it was lost a runtime is waited for: its daemon calls again in a moment.
const RETURN_MAX: Duration = Duration::from_secs(2);

/// A runtime that comes by itself, goes, and comes back.
#[derive(Debug)]
pub(crate) struct Joined {
    current: watch::Sender<Current>,
    /// What streams through its tunnels need.
    tasks: TaskTracker,
    /// No tunnel leads to it any more.
    ended: CancellationToken,
}

/// The tunnel through which it is asked. Each that comes takes the place of the one before.
#[derive(Debug)]
struct Current {
    /// How many have come.
    generation: u64,
    open: Option<Open>,
    /// Since when there is none.
    lost_at: Instant,
}

#[derive(Debug)]
struct Open {
    tunnel: TunnelClient,
    /// Another has taken its place.
    replaced: CancellationToken,
}

impl Joined {
    /// One that was there until now.
    pub(crate) fn new() -> Self {
        let current = Current { generation: 0, open: None, lost_at: Instant::now() };
        let (tasks, ended) = (TaskTracker::new(), CancellationToken::new());
        Self { current: watch::Sender::new(current), tasks, ended }
    }

    /// Asks through `socket` from now on, until it is lost, another takes its place, or all of it ends.
    pub(crate) async fn hold(&self, socket: ServerWebSocket) {
        let (near, far) = tunnel::pipe();
        let Ok((tunnel, driving)) = TunnelClient::open(near, self.tasks.clone()).await else { return };
        let mut generation = None;
        let holding = async {
            // Only one that answers takes the place of another; and what it can do is known then.
            if ask::<HealthStatus>(&tunnel, "/v1/health").await.is_err() {
                return;
            }
            let replaced = CancellationToken::new();
            generation = Some(self.take_over(tunnel.clone(), replaced.clone()));
            replaced.cancelled().await;
        };
        tokio::select! {
            () = tunnel::carry(socket, far, KeepAlive::default()) => {}
            () = driving => {}
            () = holding => {}
            () = self.ended.cancelled() => {}
        }
        if let Some(generation) = generation {
            self.give_up(generation);
        }
    }

    /// Ends every tunnel, now and later.
    pub(crate) fn end(&self) {
        self.ended.cancel();
    }

    fn take_over(&self, tunnel: TunnelClient, replaced: CancellationToken) -> u64 {
        let mut generation = 0;
        self.current.send_modify(|current| {
            current.generation += 1;
            generation = current.generation;
            if let Some(before) = current.open.replace(Open { tunnel, replaced }) {
                before.replaced.cancel();
            }
        });
        generation
    }

    /// Nothing is asked through it any more, unless another has come since.
    fn give_up(&self, generation: u64) {
        self.current.send_if_modified(|current| {
            let is_last = current.generation == generation;
            if is_last {
                (current.open, current.lost_at) = (None, Instant::now());
            }
            is_last
        });
    }

    /// The tunnel, waiting for one if it was lost only now.
    async fn tunnel(&self) -> Option<TunnelClient> {
        let mut current = self.current.subscribe();
        let until = current.borrow().lost_at + RETURN_MAX;
        let open = timeout_at(until, current.wait_for(|current| current.open.is_some())).await;
        open.ok()?.ok()?.open.as_ref().map(|open| open.tunnel.clone())
    }
}

impl Runtime for TunnelClient {
    fn send(&self, request: Request<Body>) -> BoxFuture<'_, Result<Response<Body>, Down>> {
        Box::pin(async {
            TunnelClient::send(self, request).await.map_err(|error| {
                debug!(error = %server::ErrorChain(&error), "could not forward a request");
                match error {
                    TunnelError::Busy => Down::Busy,
                    TunnelError::Tunnel(_) | TunnelError::Request(_) => Down::Unreachable,
                }
            })
        })
    }
}

impl Runtime for Joined {
    fn send(&self, request: Request<Body>) -> BoxFuture<'_, Result<Response<Body>, Down>> {
        Box::pin(async {
            let tunnel = self.tunnel().await.ok_or(Down::Unreachable)?;
            Runtime::send(&tunnel, request).await
        })
    }

    fn is_up(&self) -> Option<bool> {
        Some(self.current.borrow().open.is_some())
    }
}
