//! How long to wait before the hub is called again.

use std::time::Duration;

/// The bounds of a wait.
const WAIT_MIN: Duration = Duration::from_millis(500);
const WAIT_MAX: Duration = Duration::from_secs(30);

/// A connection that has held for this long was a good one.
const STABLE: Duration = Duration::from_secs(60);

/// How long to wait: longer each time, anywhere up to that, so that devices that were lost together do not come together.
#[derive(Debug)]
pub(crate) struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(WAIT_MIN)
    }
}

impl Backoff {
    /// The next wait.
    pub(crate) fn next(&mut self) -> Duration {
        let wait = self.0.mul_f64(fastrand::f64());
        self.0 = (self.0 * 2).min(WAIT_MAX);
        wait
    }

    /// A connection was there for so long.
    pub(crate) fn held_for(&mut self, time: Duration) {
        if time >= STABLE {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// relay-121
    #[test]
    fn waits_grow_up_to_a_bound_and_begin_anew_after_a_stable_minute() {
        let mut backoff = Backoff::default();
        let bounds: Vec<_> = (0..8)
            .map(|_| {
                let bound = backoff.0;
                assert!(backoff.next() <= bound);
                bound.as_millis()
            })
            .collect();
        assert_eq!(bounds, [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000]);
        backoff.held_for(Duration::from_secs(59));
        assert_eq!(backoff.0, WAIT_MAX);
        backoff.held_for(STABLE);
        assert_eq!(backoff.0, WAIT_MIN);
    }

    /// relay-121
    #[test]
    fn waits_are_spread_over_the_whole_time() {
        let waits: Vec<_> = (0..1000).map(|_| Backoff(WAIT_MAX).next()).collect();
        assert!(waits.iter().any(|wait| *wait < WAIT_MAX / 10));
        assert!(waits.iter().any(|wait| *wait > WAIT_MAX * 9 / 10));
    }
}
