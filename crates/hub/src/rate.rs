//! How often somebody may do something: a bucket each, which fills again with time.

use std::{
    collections::HashMap,
    hash::Hash,
    mem,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// How many are remembered, in two halves: when the younger half is full, the older is forgotten. Who was forgotten has a
/// full bucket.
const REMEMBERED_MAX: usize = 1 << 16;

/// So many at once, and then one each time that `every` has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many at once.
    pub burst: u32,
    /// After how long there is one more.
    pub every: Duration,
}

/// A bucket for each.
pub(crate) struct Buckets<K> {
    rate: Rate,
    half_max: usize,
    halves: Mutex<Halves<K>>,
}

/// When each bucket is full again.
struct Halves<K> {
    young: HashMap<K, Instant>,
    old: HashMap<K, Instant>,
}

impl<K: Eq + Hash> Buckets<K> {
    pub(crate) fn new(rate: Rate) -> Self {
        let halves = Halves { young: HashMap::new(), old: HashMap::new() };
        Self { rate, half_max: REMEMBERED_MAX / 2, halves: Mutex::new(halves) }
    }

    /// Takes one out of the bucket.
    ///
    /// # Errors
    /// If there is none: after how long there is.
    pub(crate) fn take(&self, key: K) -> Result<(), Duration> {
        self.take_at(key, Instant::now())
    }

    fn take_at(&self, key: K, now: Instant) -> Result<(), Duration> {
        let mut halves = self.halves.lock();
        let full = halves.young.get(&key).or_else(|| halves.old.get(&key)).copied();
        let full = full.unwrap_or(now).max(now);
        let next = full + self.rate.every;
        let missing = next.duration_since(now).saturating_sub(self.rate.every * self.rate.burst);
        // Who comes is remembered, also if there is nothing for them.
        halves.young.insert(key, if missing.is_zero() { next } else { full });
        if halves.young.len() >= self.half_max {
            halves.old = mem::take(&mut halves.young);
        }
        if missing.is_zero() { Ok(()) } else { Err(missing) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { burst: 3, every: Duration::from_secs(10) };

    #[test]
    fn a_bucket_is_emptied_and_fills_again() {
        let (buckets, start) = (Buckets::new(RATE), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        for _ in 0..3 {
            assert_eq!(buckets.take_at("a", at(0)), Ok(()));
        }
        assert_eq!(buckets.take_at("a", at(0)), Err(Duration::from_secs(10)));
        assert_eq!(buckets.take_at("a", at(4)), Err(Duration::from_secs(6)));
        assert_eq!(buckets.take_at("b", at(4)), Ok(()), "everybody has their own");
        assert_eq!(buckets.take_at("a", at(10)), Ok(()));
        assert_eq!(buckets.take_at("a", at(10)), Err(Duration::from_secs(10)));
        for _ in 0..3 {
            assert_eq!(buckets.take_at("a", at(1000)), Ok(()), "it holds no more than it did");
        }
        assert!(buckets.take_at("a", at(1000)).is_err());
    }

    #[test]
    fn only_so_many_are_remembered_and_those_who_come_are_not_forgotten() {
        let mut buckets = Buckets::new(RATE);
        buckets.half_max = 8;
        let now = Instant::now();
        let _ = [(); 3].map(|()| buckets.take_at(0, now));
        for key in 1..1000 {
            assert!(buckets.take_at(0, now).is_err(), "{key}");
            let _ = buckets.take_at(key, now);
            let halves = buckets.halves.lock();
            assert!(halves.young.len() < 8 && halves.old.len() <= 8);
        }
    }
}
