//! Joining a hub from where nobody can reach us: we call, and it asks.

use std::time::Duration;

use backoff::Backoff;
use client::{Client, Error, WebSocket};
use protocol::RuntimeId;
use server::{ErrorChain, InProcessService};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use websocket::KeepAlive;

/// The shortest and the longest delay before the daemon dials the hub again.
const REDIAL_MIN: Duration = Duration::from_millis(100);
const REDIAL_MAX: Duration = Duration::from_secs(5);

/// A tunnel that lasted this long resets the backoff. A shorter one does not: two daemons that join as the same runtime
/// displace each other, and would otherwise do so ten times a second.
const STABLE_AFTER: Duration = Duration::from_secs(1);

/// How long the hub may take to answer the call.
const CALL_MAX: Duration = Duration::from_secs(20);

/// The hub that a daemon makes itself known to.
#[derive(Debug, Clone)]
pub struct Join {
    /// Calls the hub, with what it lets us join with.
    pub hub: Client,
    /// The runtime that we mean to be, if it matters.
    pub name: Option<RuntimeId>,
}

impl Join {
    /// Keeps a tunnel to the hub until `stop`; what comes through it is answered by `inside`.
    pub(crate) async fn keep(self, inside: InProcessService, stop: CancellationToken) {
        let mut backoff = Backoff::new(REDIAL_MIN, REDIAL_MAX);
        // Told once, however often it is tried.
        let mut told = None;
        loop {
            match stop.run_until_cancelled(self.call()).await {
                None => return,
                Some(Ok(socket)) => {
                    info!("joined the hub");
                    told = None;
                    let since = Instant::now();
                    answer(socket, inside.clone(), stop.clone()).await;
                    if since.elapsed() >= STABLE_AFTER {
                        backoff.reset();
                    }
                }
                Some(Err(reason)) => {
                    if told.as_ref() != Some(&reason) {
                        warn!(%reason, "could not join the hub; it is tried again");
                        told = Some(reason);
                    }
                }
            }
            if stop.run_until_cancelled(backoff.wait()).await.is_none() {
                return;
            }
        }
    }

    async fn call(&self) -> Result<WebSocket, String> {
        match timeout(CALL_MAX, self.hub.join(self.name.as_ref())).await {
            Ok(answered) => answered.map_err(|error: Error| ErrorChain(&error).to_string()),
            Err(_) => Err(format!("it did not answer for {} s", CALL_MAX.as_secs())),
        }
    }
}

/// Answers what comes through the tunnel until it is lost or `stop`.
async fn answer(socket: WebSocket, inside: InProcessService, stop: CancellationToken) {
    let (near, far) = tunnel::pipe();
    // Each ends with the other; what was said last is still carried.
    tokio::join!(tunnel::serve(near, inside, stop), tunnel::carry(socket, far, KeepAlive::default()));
}
