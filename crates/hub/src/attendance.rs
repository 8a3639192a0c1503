//! How many there are for something.

use std::time::Duration;

use tokio::{sync::watch, time::timeout};

/// How many there are for something.
#[derive(Debug)]
pub(crate) struct Attendance(watch::Sender<usize>);

impl Attendance {
    /// Nobody yet.
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    pub(crate) fn come(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    pub(crate) fn go(&self) {
        self.0.send_modify(|count| *count -= 1);
    }

    /// How many are there now.
    pub(crate) fn len(&self) -> usize {
        *self.0.borrow()
    }

    pub(crate) fn is_anybody_there(&self) -> bool {
        self.len() > 0
    }

    /// Waits until nobody has come or gone for so long, and nobody is there.
    pub(crate) async fn deserted(&self, long: Duration) {
        let mut count = self.0.subscribe();
        while *count.borrow_and_update() > 0 || timeout(long, count.changed()).await.is_ok() {
            // It fails only when there is nothing to be there for any more.
            let _ = count.wait_for(|count| *count == 0).await;
        }
    }
}
