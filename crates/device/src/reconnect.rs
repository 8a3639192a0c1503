//! When a lost connection is made again: to the hub, or to an MCP server.

use std::time::Duration;

use backoff::Backoff;

const DELAY_MIN: Duration = Duration::from_millis(500);
const DELAY_MAX: Duration = Duration::from_secs(30);

/// A connection that lasted this long resets the backoff. A shorter one counts as a failed attempt.
pub(crate) const STABLE_AFTER: Duration = Duration::from_secs(60);

/// The backoff between two attempts. Its jitter is full because a hub that restarts loses all its devices at once.
pub(crate) fn backoff() -> Backoff {
    Backoff::with_full_jitter(DELAY_MIN, DELAY_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// relay-121
    #[test]
    fn the_delay_grows_from_half_a_second_to_half_a_minute() {
        let mut backoff = backoff();
        let limits: Vec<_> = (0..8)
            .map(|_| {
                let limit = backoff.limit();
                assert!(backoff.next_delay() <= limit);
                limit.as_millis()
            })
            .collect();
        assert_eq!(limits, [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000]);
    }
}
