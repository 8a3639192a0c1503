//! Exponential backoff with jitter: how long to wait before an operation is retried.
//!
//! The limit of the delay starts at a minimum and doubles with each retry up to a maximum. The delay itself is drawn at
//! random below that limit, so that clients that lost a server at the same moment do not all return at the same moment.
//! The caller decides when a success counts and calls [`Backoff::reset`]; a connection that breaks at once is no success.
//!
//! `backon` offers no full or equal jitter (it adds up to one minimum delay) and its iterators cannot be reset, which
//! every long-lived connection here needs.

use std::time::Duration;

use tokio::time::sleep;

/// Exponential backoff with jitter.
#[derive(Debug, Clone)]
pub struct Backoff {
    min: Duration,
    max: Duration,
    jitter: Jitter,
    /// The longest that the next delay can be.
    limit: Duration,
}

/// Which part of the limit is random.
#[derive(Debug, Clone, Copy)]
enum Jitter {
    Half,
    Full,
}

impl Backoff {
    /// Delays between half of the limit and all of it. The limit doubles from `min` to `max`.
    #[must_use]
    pub fn new(min: Duration, max: Duration) -> Self {
        Self { min, max, jitter: Jitter::Half, limit: min.min(max) }
    }

    /// Delays anywhere between zero and the limit: the widest spread, for many clients of one server.
    #[must_use]
    pub fn with_full_jitter(min: Duration, max: Duration) -> Self {
        Self { jitter: Jitter::Full, ..Self::new(min, max) }
    }

    /// The longest that the next delay can be.
    #[must_use]
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// Returns the delay before the next retry and doubles the limit for the one after it.
    pub fn next_delay(&mut self) -> Duration {
        let random = fastrand::f64();
        let fraction = match self.jitter {
            Jitter::Half => 0.5 + random / 2.0,
            Jitter::Full => random,
        };
        let delay = self.limit.mul_f64(fraction);
        self.limit = self.limit.saturating_mul(2).min(self.max);
        delay
    }

    /// Sleeps for the next delay.
    pub async fn wait(&mut self) {
        sleep(self.next_delay()).await;
    }

    /// Starts over with the shortest delay.
    pub fn reset(&mut self) {
        self.limit = self.min.min(self.max);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    const MIN: Duration = Duration::from_millis(100);
    const MAX: Duration = Duration::from_millis(1500);

    fn limits(backoff: &mut Backoff, count: usize) -> Vec<u128> {
        (0..count)
            .map(|_| {
                let limit = backoff.limit();
                backoff.next_delay();
                limit.as_millis()
            })
            .collect()
    }

    #[test]
    fn the_limit_doubles_up_to_the_maximum_and_starts_over_after_a_reset() {
        let mut backoff = Backoff::new(MIN, MAX);
        assert_eq!(limits(&mut backoff, 6), [100, 200, 400, 800, 1500, 1500]);
        backoff.reset();
        assert_eq!(limits(&mut backoff, 2), [100, 200]);
    }

    #[test]
    fn a_minimum_above_the_maximum_never_exceeds_the_maximum() {
        assert_eq!(limits(&mut Backoff::new(MAX, MIN), 3), [100, 100, 100]);
    }

    #[test]
    fn half_jitter_spreads_delays_over_the_upper_half_of_the_limit() {
        fastrand::seed(1);
        let delays: Vec<_> = (0..1000).map(|_| Backoff::new(MAX, MAX).next_delay()).collect();
        assert!(delays.iter().all(|delay| (MAX / 2..=MAX).contains(delay)));
        assert!(delays.iter().any(|delay| *delay < MAX * 6 / 10));
        assert!(delays.iter().any(|delay| *delay > MAX * 9 / 10));
    }

    #[test]
    fn full_jitter_spreads_delays_over_the_whole_limit() {
        fastrand::seed(1);
        let delays: Vec<_> = (0..1000).map(|_| Backoff::with_full_jitter(MAX, MAX).next_delay()).collect();
        assert!(delays.iter().all(|delay| *delay <= MAX));
        assert!(delays.iter().any(|delay| *delay < MAX / 10));
        assert!(delays.iter().any(|delay| *delay > MAX * 9 / 10));
    }

    #[test]
    fn the_same_seed_gives_the_same_delays() {
        let delays = || {
            fastrand::seed(7);
            let mut backoff = Backoff::new(MIN, MAX);
            (0..8).map(|_| backoff.next_delay()).collect::<Vec<_>>()
        };
        assert_eq!(delays(), delays());
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_sleeps_for_the_delay() {
        let mut backoff = Backoff::new(MIN, MAX);
        let started_at = Instant::now();
        backoff.wait().await;
        // Tokio's timer has a resolution of one millisecond and rounds up.
        assert!((MIN / 2..=MIN + Duration::from_millis(1)).contains(&started_at.elapsed()));
        assert_eq!(backoff.limit(), MIN * 2);
    }
}
