//! Joins a hub: the daemon opens a tunnel to it, and the hub sends its requests through the tunnel. So a daemon needs no
//! address that the hub can reach.

use std::time::Duration;

use backoff::Backoff;
use client::{Client, ClientWebSocket, Error};
use protocol::{ProblemKind, RuntimeId};
use server::{ErrorChain, InProcessService};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};
use websocket::KeepAlive;

/// The shortest and the longest delay before the daemon dials the hub again.
const REDIAL_MIN: Duration = Duration::from_millis(100);
const REDIAL_MAX: Duration = Duration::from_secs(5);

/// A tunnel that ends sooner than this is unstable, and the next dial waits for `UNSTABLE_DELAY`. The delay does not grow,
/// because a tunnel that a bad network breaks often must come back before the hub's viewers lose what the daemon retains.
const STABLE_AFTER: Duration = Duration::from_secs(1);
const UNSTABLE_DELAY: Duration = Duration::from_millis(500);

/// The delay after the hub refused the token. Trying again sooner would not help: the owner has to start the daemon with another token.
const REFUSED_DELAY: Duration = Duration::from_secs(300);

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
                Some(Err(failure)) => {
                    let DialFailure { reason, is_refusal } = failure;
                    if logged_reason.as_ref() != Some(&reason) {
                        log_failure(&reason, is_refusal);
                        logged_reason = Some(reason);
                    }
                    if is_refusal { REFUSED_DELAY } else { backoff.next_delay() }
                }
            };
            if stop.run_until_cancelled(sleep(delay)).await.is_none() {
                return;
            }
        }
    }

    async fn dial(&self, daemon_id: &str) -> Result<ClientWebSocket, DialFailure> {
        match timeout(DIAL_TIMEOUT, self.hub.join(self.name.as_ref(), daemon_id)).await {
            Ok(joined) => joined.map_err(|error| DialFailure::from(&error)),
            Err(_) => {
                let reason = format!("the hub did not respond within {} s", DIAL_TIMEOUT.as_secs());
                Err(DialFailure { reason, is_refusal: false })
            }
        }
    }
}

/// Why the daemon has not joined.
#[derive(Debug)]
struct DialFailure {
    reason: String,
    /// The hub refused the token, which a new attempt does not change.
    is_refusal: bool,
}

impl From<&Error> for DialFailure {
    fn from(error: &Error) -> Self {
        let is_refusal = matches!(error.kind(), Some(ProblemKind::Unauthorized | ProblemKind::Forbidden));
        let reason = match error {
            // Without the id of the request, which would make each failure a new reason.
            Error::Problem(problem) => problem.sentence(),
            error => ErrorChain(error).to_string(),
        };
        Self { reason, is_refusal }
    }
}

fn log_failure(reason: &str, is_refusal: bool) {
    if is_refusal {
        error!(
            %reason,
            "the hub refuses the join token; get a new one with `tombolo hub runtimes invite` and start the daemon with it. The \
             daemon tries again every {} s",
            REFUSED_DELAY.as_secs()
        );
    } else {
        warn!(%reason, "could not join the hub; trying again");
    }
}

/// Serves the requests from the tunnel until it is lost or `stop` is cancelled.
async fn serve_tunnel(socket: ClientWebSocket, service: InProcessService, stop: CancellationToken) {
    let (near, far) = tunnel::pipe();
    // Each half ends when the other does. Joining both lets the last responses through.
    tokio::join!(tunnel::serve(near, service, stop), tunnel::carry(socket, far, KeepAlive::default()));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another status than that of a refused token may be one of a proxy, or of a hub that is starting.
    #[test]
    fn only_a_refused_token_is_final() {
        for (status, kind, is_refusal) in [
            (401, "unauthorized", true),
            (403, "forbidden", true),
            (503, "shutting-down", false),
            (404, "not-found", false),
        ] {
            let kind =
                ProblemKind::ALL.iter().copied().find(|known| known.urn() == format!("urn:problem:{kind}"));
            assert!(kind.is_some(), "{status}");
            let problem = client::ProblemDetails {
                kind,
                urn: String::new(),
                title: String::new(),
                status,
                detail: String::new(),
                stderr_tail: None,
                causes: Vec::new(),
                request_id: Some("of-this-attempt".into()),
                body: Default::default(),
            };
            let failure = DialFailure::from(&Error::Problem(Box::new(problem)));
            assert_eq!(failure.is_refusal, is_refusal, "{status}");
            assert!(!failure.reason.contains("of-this-attempt"), "each attempt would be logged: {failure:?}");
        }
        assert!(!DialFailure::from(&Error::Transport("the network is down".into())).is_refusal);
    }
}
