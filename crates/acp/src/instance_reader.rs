//! A reader of the event stream of an instance.

use std::task::{Context, Poll};

use journal::{JournalItem, RingReader};
use subscribers::Subscription;

/// A reader of the event stream of an instance. It keeps an instance with a linger time from being deleted.
#[derive(Debug)]
pub struct InstanceReader {
    pub(crate) reader: RingReader,
    /// `None` if the instance does not linger.
    pub(crate) _subscription: Option<Subscription>,
}

impl InstanceReader {
    /// The next events; `None` once the agent has exited and all events were read.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<JournalItem>> {
        self.reader.poll_next(cx)
    }
}
