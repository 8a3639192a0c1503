//! How long it is tried to do something over a network that may be down.

use std::time::{Duration, Instant};

use client::Error;
use protocol::ProblemKind;

use crate::exit::say;

/// The pause before the second try; doubled with each one after it.
const PAUSE_FIRST: Duration = Duration::from_millis(100);

/// The longest pause: a network that is back shall be found soon.
const PAUSE_MAX: Duration = Duration::from_secs(3);

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
        let mut pause = PAUSE_FIRST;
        loop {
            let error = match attempt().await {
                Ok(done) => {
                    if pause > PAUSE_FIRST {
                        say(&format!("tombolo: it went through after {} ms", since.elapsed().as_millis()));
                    }
                    return Ok(done);
                }
                Err(error) => error,
            };
            if !passes(&error) {
                return Err(error);
            }
            if since.elapsed() + pause >= self.0 {
                say(&format!("tombolo: gave up after {} ms", since.elapsed().as_millis()));
                return Err(error);
            }
            if pause == PAUSE_FIRST {
                say(&format!("tombolo: {error}; trying again for up to {} s", self.0.as_secs_f32().ceil()));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
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
