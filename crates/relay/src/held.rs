//! Counters of the resources that a connection holds.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// The resources that a connection holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// Requests of this side without an outcome.
    pub calls: usize,
    /// Requests of the peer without an outcome.
    pub requests: usize,
    /// Bytes of streams that are queued for sending.
    pub unsent_bytes: usize,
    /// The highest value of `unsent_bytes` so far.
    pub unsent_bytes_peak: usize,
    /// Bytes of streams that callers have not read.
    pub unread_bytes: usize,
    /// The highest value of `unread_bytes` so far.
    pub unread_bytes_peak: usize,
}

/// A counter with its current and its highest value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gauge(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    now: AtomicUsize,
    peak: AtomicUsize,
}

/// An amount that counts until it is dropped.
#[derive(Debug)]
pub(crate) struct Weight {
    gauge: Gauge,
    amount: usize,
}

impl Gauge {
    pub(crate) fn add(&self, amount: usize) -> Weight {
        let now = self.0.now.fetch_add(amount, Relaxed) + amount;
        self.0.peak.fetch_max(now, Relaxed);
        Weight { gauge: self.clone(), amount }
    }

    pub(crate) fn now(&self) -> usize {
        self.0.now.load(Relaxed)
    }

    pub(crate) fn peak(&self) -> usize {
        self.0.peak.load(Relaxed)
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.gauge.0.now.fetch_sub(self.amount, Relaxed);
    }
}
