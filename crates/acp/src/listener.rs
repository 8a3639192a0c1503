//! A reader of the messages of an instance.

use std::task::{Context, Poll};

use journal::{JournalItem, RingReader};
use subscribers::Subscription;

/// A reader of the messages of an instance. An instance that lingers is not deleted while it has one.
#[derive(Debug)]
pub struct Listener {
    pub(crate) reader: RingReader,
    /// `None` if the instance does not linger.
    pub(crate) _subscription: Option<Subscription>,
}

impl Listener {
    /// The next of what the agent says; `None` once nothing will come any more.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<JournalItem>> {
        self.reader.poll_next(cx)
    }
}
