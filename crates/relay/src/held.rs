//! What a connection holds, counted.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// What a connection holds now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// Requests of this side that are not answered.
    pub calls: usize,
    /// Requests of the other side that are not answered.
    pub requests: usize,
    /// Bytes of streams that wait to be sent.
    pub unsent_bytes: usize,
    /// The most that it ever was.
    pub unsent_bytes_peak: usize,
    /// Bytes of streams that wait to be read.
    pub unread_bytes: usize,
    /// The most that it ever was.
    pub unread_bytes_peak: usize,
}

/// Something that is counted: how much there is, and the most that there ever was.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gauge(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    now: AtomicUsize,
    peak: AtomicUsize,
}

/// A part of what is counted, for as long as it lives.
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
