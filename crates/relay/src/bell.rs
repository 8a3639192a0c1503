//! How a call tells the one who drives the connection something without waiting, also when it is dropped.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// What the calls have rung for. It holds no more than some rings of each call: it reads at most what it has credit for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bell(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    rings: Mutex<Vec<Ring>>,
    wake: Notify,
}

/// What a call rings for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ring {
    /// So much of its stream was read.
    Read { call: u64, bytes: u64 },
    /// It is no longer wanted, but what comes of it is waited for.
    Cancelled { call: u64 },
    /// Nobody waits for it any more.
    Dropped { call: u64 },
}

impl Bell {
    pub(crate) fn ring(&self, ring: Ring) {
        self.0.rings.lock().push(ring);
        self.0.wake.notify_one();
    }

    /// What was rung for since it was asked last, once there is something.
    pub(crate) async fn heard(&self) -> Vec<Ring> {
        loop {
            let rings = std::mem::take(&mut *self.0.rings.lock());
            if !rings.is_empty() {
                return rings;
            }
            self.0.wake.notified().await;
        }
    }
}
