//! Retries requests to a daemon while it cannot be reached.

use std::time::{Duration, Instant};

use backoff::Backoff;
use client::Error;
use protocol::ProblemKind;

use crate::exit::say;

/// The delay before the second attempt.
const RETRY_MIN: Duration = Duration::from_millis(100);

/// The longest delay: short, so that the editor notices soon when the network is back.
const RETRY_MAX: Duration = Duration::from_secs(3);

/// Retries requests for a limited time.
#[derive(Debug, Clone, Copy)]
pub(super) struct RetryPolicy(Duration);

impl RetryPolicy {
    pub(super) fn new(timeout: Duration) -> Self {
        Self(timeout)
    }

    pub(super) fn timeout(self) -> Duration {
        self.0
    }

    /// Repeats `attempt` until it succeeds, fails in a way that retrying cannot fix, or the time is up.
    pub(super) async fn run<T, F>(self, mut attempt: impl FnMut() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let started = Instant::now();
        let mut backoff = Backoff::new(RETRY_MIN, RETRY_MAX);
        let mut retried = false;
        loop {
            let error = match attempt().await {
                Ok(done) => {
                    if retried {
                        say(&format!(
                            "tombolo: reached the daemon again after {} ms",
                            started.elapsed().as_millis()
                        ));
                    }
                    return Ok(done);
                }
                Err(error) => error,
            };
            if !is_transient(&error) {
                return Err(error);
            }
            let delay = backoff.next_delay();
            if started.elapsed() + delay >= self.0 {
                say(&format!("tombolo: gave up after {} ms", started.elapsed().as_millis()));
                return Err(error);
            }
            if !retried {
                say(&format!("tombolo: {error}; retrying for up to {} s", self.0.as_secs_f32().ceil()));
            }
            retried = true;
            tokio::time::sleep(delay).await;
        }
    }
}

/// Whether the same request may succeed in a moment.
fn is_transient(error: &Error) -> bool {
    match error {
        Error::Transport(_) => true,
        // The answer of a gateway in between, which does not send problem documents.
        Error::Unexpected { status, .. } => matches!(status, 408 | 429 | 502 | 503 | 504),
        Error::Problem(refusal) => matches!(
            refusal.kind,
            Some(
                ProblemKind::AgentBusy
                    | ProblemKind::ShuttingDown
                    | ProblemKind::TooManyConnections
                    | ProblemKind::RequestTimeout
            )
        ),
        Error::Local { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn lost() -> Error {
        Error::Transport("cut".into())
    }

    #[tokio::test]
    async fn a_request_is_retried_until_the_network_is_back() {
        let tries = Cell::new(0);
        let outcome = RetryPolicy::new(Duration::from_secs(60)).run(async || {
            tries.set(tries.get() + 1);
            if tries.get() < 4 { Err(lost()) } else { Ok(7) }
        });
        assert_eq!((outcome.await.unwrap(), tries.get()), (7, 4));
    }

    #[tokio::test]
    async fn retrying_ends_after_the_timeout() {
        let outcome: Result<(), _> =
            RetryPolicy::new(Duration::from_millis(250)).run(async || Err(lost())).await;
        assert!(matches!(outcome, Err(Error::Transport(_))));
    }

    #[test]
    fn gateway_errors_are_transient_and_other_answers_are_not() {
        let answered = |status| Error::Unexpected { status, reason: String::new(), excerpt: String::new() };
        assert!(is_transient(&answered(502)) && is_transient(&answered(504)));
        assert!(!is_transient(&answered(200)) && !is_transient(&answered(404)));
    }
}
