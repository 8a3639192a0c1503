//! A rate limit for each key: a token bucket that fills again with time.
//!
//! `governor` would do the arithmetic, but none of its keyed stores has a limit on the number of keys. Its remedy,
//! `retain_recent`, keeps every key that was used lately, and those are what an attacker with many addresses produces.

use std::{
    collections::HashMap,
    hash::Hash,
    mem,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// How many keys are kept, in two generations. When the younger one is full it replaces the older one. A key that is used
/// again moves to the younger generation, so only keys that were not used for a while are evicted; an evicted key starts
/// with a full bucket.
const KEYS_MAX: usize = 1 << 16;

/// A burst, and then one each time that `every` has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many are allowed at once.
    pub burst: u32,
    /// After how long one more is allowed.
    pub every: Duration,
}

/// A bucket for each key.
pub(crate) struct KeyedRateLimiter<K> {
    rate: Rate,
    generation_max: usize,
    buckets: Mutex<Generations<K>>,
}

/// When the bucket of each key is full again.
struct Generations<K> {
    young: HashMap<K, Instant>,
    old: HashMap<K, Instant>,
}

impl<K: Eq + Hash> KeyedRateLimiter<K> {
    pub(crate) fn new(rate: Rate) -> Self {
        let generations = Generations { young: HashMap::new(), old: HashMap::new() };
        Self { rate, generation_max: KEYS_MAX / 2, buckets: Mutex::new(generations) }
    }

    /// Takes one token out of the bucket of `key`.
    ///
    /// # Errors
    /// If the bucket is empty: after how long to try again.
    pub(crate) fn take(&self, key: K) -> Result<(), Duration> {
        self.take_at(key, Instant::now())
    }

    fn take_at(&self, key: K, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock();
        let full_at = buckets.young.get(&key).or_else(|| buckets.old.get(&key)).copied();
        let full_at = full_at.unwrap_or(now).max(now);
        // A bucket that would be full later than `burst` refills from now holds no whole token.
        let next_full_at = full_at + self.rate.every;
        let retry_after = next_full_at.duration_since(now).saturating_sub(self.rate.every * self.rate.burst);
        // A refused key counts as used too, or a client that never stops would be evicted and start with a full bucket.
        buckets.young.insert(key, if retry_after.is_zero() { next_full_at } else { full_at });
        if buckets.young.len() >= self.generation_max {
            buckets.old = mem::take(&mut buckets.young);
        }
        if retry_after.is_zero() { Ok(()) } else { Err(retry_after) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { burst: 3, every: Duration::from_secs(10) };

    #[test]
    fn a_bucket_is_emptied_and_fills_again() {
        let limiter = KeyedRateLimiter::new(RATE);
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        for _ in 0..3 {
            assert_eq!(limiter.take_at("a", at(0)), Ok(()));
        }
        assert_eq!(limiter.take_at("a", at(0)), Err(Duration::from_secs(10)));
        assert_eq!(limiter.take_at("a", at(4)), Err(Duration::from_secs(6)));
        assert_eq!(limiter.take_at("b", at(4)), Ok(()), "each key has its own bucket");
        assert_eq!(limiter.take_at("a", at(10)), Ok(()));
        assert_eq!(limiter.take_at("a", at(10)), Err(Duration::from_secs(10)));
        for _ in 0..3 {
            assert_eq!(limiter.take_at("a", at(1000)), Ok(()), "a bucket holds no more than the burst");
        }
        assert!(limiter.take_at("a", at(1000)).is_err());
    }

    #[test]
    fn the_number_of_keys_is_bounded_and_a_key_in_use_is_not_evicted() {
        let mut limiter = KeyedRateLimiter::new(RATE);
        limiter.generation_max = 8;
        let now = Instant::now();
        let _ = [(); 3].map(|()| limiter.take_at(0, now));
        for key in 1..1000 {
            assert!(limiter.take_at(0, now).is_err(), "{key}");
            let _ = limiter.take_at(key, now);
            let buckets = limiter.buckets.lock();
            assert!(buckets.young.len() < 8 && buckets.old.len() <= 8);
        }
    }
}
