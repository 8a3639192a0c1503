//! Joins a hub: the daemon opens a tunnel to it, and the hub sends its requests through the tunnel. So a daemon needs no
//! address that the hub can reach.

use std::time::Duration;

use backoff::Backoff;
use client::{Client, ClientWebSocket, Error};
use protocol::RuntimeId;
use server::{ErrorChain, InProcessService};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use websocket::KeepAlive;

/// The shortest and the longest delay before the daemon dials the hub again.
const REDIAL_MIN: Duration = Duration::from_millis(100);
const REDIAL_MAX: Duration = Duration::from_secs(5);

/// A tunnel that ends sooner than this is unstable, and the next dial waits for `UNSTABLE_DELAY`. The delay does not grow,
/// because a tunnel that a bad network breaks often must come back before the hub's viewers lose what the daemon retains.
const STABLE_AFTER: Duration = Duration::from_secs(1);
const UNSTABLE_DELAY: Duration = Duration::from_millis(500);

/// How long the hub may take to accept the connection.
const DIAL_TIMEOUT: Duration = Duration::from_secs(20);

/// The hub that a daemon joins.
#[derive(Debug, Clone)]
pub struct HubJoin {
    /// A client of the hub, with the join token.
    pub hub: Client,
    /// The runtime to join as. If given, joining fails with a token for another runtime.
    pub name: Option<RuntimeId>,
}

impl HubJoin {
    /// Keeps a tunnel to the hub open until `stop` is cancelled, and serves its requests with `service`.
    pub(crate) async fn keep_joined(
        self,
        daemon_id: String,
        service: InProcessService,
        stop: CancellationToken,
    ) {
        let mut backoff = Backoff::new(REDIAL_MIN, REDIAL_MAX);
        // A reason is logged once, however often the attempt fails for it.
        let mut logged_reason = None;
        loop {
            let delay = match stop.run_until_cancelled(self.dial(&daemon_id)).await {
                None => return,
                Some(Ok(socket)) => {
                    info!("joined the hub");
                    logged_reason = None;
                    let joined_at = Instant::now();
                    serve_tunnel(socket, service.clone(), stop.clone()).await;
                    backoff.reset();
                    if joined_at.elapsed() >= STABLE_AFTER {
                        backoff.next_delay()
                    } else {
                        Backoff::new(UNSTABLE_DELAY, UNSTABLE_DELAY).next_delay()
                    }
                }
                Some(Err(reason)) => {
                    if logged_reason.as_ref() != Some(&reason) {
                        warn!(%reason, "could not join the hub; trying again");
                        logged_reason = Some(reason);
                    }
                    backoff.next_delay()
                }
            };
            if stop.run_until_cancelled(sleep(delay)).await.is_none() {
                return;
            }
        }
    }

    async fn dial(&self, daemon_id: &str) -> Result<ClientWebSocket, String> {
        match timeout(DIAL_TIMEOUT, self.hub.join(self.name.as_ref(), daemon_id)).await {
            Ok(joined) => joined.map_err(|error: Error| ErrorChain(&error).to_string()),
            Err(_) => Err(format!("the hub did not respond within {} s", DIAL_TIMEOUT.as_secs())),
        }
    }
}

/// Serves the requests from the tunnel until it is lost or `stop` is cancelled.
async fn serve_tunnel(socket: ClientWebSocket, service: InProcessService, stop: CancellationToken) {
    let (near, far) = tunnel::pipe();
    // Each half ends when the other does. Joining both lets the last responses through.
    tokio::join!(tunnel::serve(near, service, stop), tunnel::carry(socket, far, KeepAlive::default()));
}
