//! Signals from calls to the driver of the connection. Sending one never waits, so that `Drop` can send one too.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// The queue of signals. It is bounded by the number of calls, because the credit of each bounds how often it reports bytes read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bell(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    rings: Mutex<Vec<Ring>>,
    wake: Notify,
}

/// A signal of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ring {
    /// The caller has read this many bytes of the stream.
    Read { call: u64, bytes: u64 },
    /// The caller has cancelled the call and still waits for its outcome.
    Cancelled { call: u64 },
    /// The caller has dropped the call.
    Dropped { call: u64 },
}

impl Bell {
    pub(crate) fn ring(&self, ring: Ring) {
        self.0.rings.lock().push(ring);
        self.0.wake.notify_one();
    }

    /// Waits for signals and returns all since the last call.
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
