//! How long it is tried to do something over a network that may be down.

use std::time::{Duration, Instant};

use backoff::Backoff;
use client::Error;
use protocol::ProblemKind;

use crate::exit::say;

/// The delay before the second attempt.
const RETRY_MIN: Duration = Duration::from_millis(100);

/// The longest delay: short, so that the editor notices soon when the network is back.
const RETRY_MAX: Duration = Duration::from_secs(3);

/// How long a daemon that cannot be reached is tried for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience(Duration);

impl Patience {
    pub(super) fn new(time: Duration) -> Self {
        Self(time)
    }

    pub(super) fn time(self) -> Duration {
        self.0
    }

    /// Tries until it is done, or refused for good, or the patience is at its end.
    pub(super) async fn persist<T, F>(self, mut attempt: impl FnMut() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let since = Instant::now();
        let mut backoff = Backoff::new(RETRY_MIN, RETRY_MAX);
        let mut retried = false;
        loop {
            let error = match attempt().await {
                Ok(done) => {
                    if retried {
                        say(&format!("tombolo: it went through after {} ms", since.elapsed().as_millis()));
                    }
                    return Ok(done);
                }
                Err(error) => error,
            };
            if !passes(&error) {
                return Err(error);
            }
            let delay = backoff.next_delay();
            if since.elapsed() + delay >= self.0 {
                say(&format!("tombolo: gave up after {} ms", since.elapsed().as_millis()));
                return Err(error);
            }
            if !retried {
                say(&format!("tombolo: {error}; trying again for up to {} s", self.0.as_secs_f32().ceil()));
            }
            retried = true;
            tokio::time::sleep(delay).await;
        }
    }
}

/// Whether what went wrong may be right in a moment.
fn passes(error: &Error) -> bool {
    match error {
        Error::Transport(_) => true,
        // A gateway in between, which knows no problem documents.
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
    async fn a_lost_network_is_tried_until_it_is_back() {
        let tries = Cell::new(0);
        let outcome = Patience::new(Duration::from_secs(60)).persist(async || {
            tries.set(tries.get() + 1);
            if tries.get() < 4 { Err(lost()) } else { Ok(7) }
        });
        assert_eq!((outcome.await.unwrap(), tries.get()), (7, 4));
    }

    #[tokio::test]
    async fn patience_ends() {
        let outcome: Result<(), _> =
            Patience::new(Duration::from_millis(250)).persist(async || Err(lost())).await;
        assert!(matches!(outcome, Err(Error::Transport(_))));
    }

    #[test]
    fn a_gateway_that_is_down_passes_and_a_stranger_does_not() {
        let answered = |status| Error::Unexpected { status, reason: String::new(), excerpt: String::new() };
        assert!(passes(&answered(502)) && passes(&answered(504)));
        assert!(!passes(&answered(200)) && !passes(&answered(404)));
    }
}
