//! One page of the log of a process.

use std::task::{Context, Poll, Waker};

use journal::{RingJournal, Seq};
use protocol::processes::{ProcessLogGap, ProcessLogPage};

use crate::{LogFollower, LogItem, ProcessEvent};

/// The maximum and default number of entries of a page.
pub const PAGE_MAX: usize = 1000;

/// A page ends after this many bytes of output; as JSON they may take six times as many.
pub const PAGE_BYTES_MAX: usize = 1 << 20;

/// Up to `limit` pieces of output after `after`, or from the oldest retained one.
pub(crate) fn read(ring: &RingJournal, after: Option<Seq>, limit: usize) -> ProcessLogPage {
    let mut follower = LogFollower::new(ring, after);
    // Polling with a no-op waker returns the existing entries without waiting for more.
    let mut cx = Context::from_waker(Waker::noop());
    let mut page = ProcessLogPage { items: Vec::new(), gap: None, next_cursor: None };
    let mut bytes = 0;
    while page.items.len() < limit && bytes < PAGE_BYTES_MAX {
        match follower.poll_next(&mut cx) {
            Poll::Ready(Some(LogItem::Event(seq, ProcessEvent::Output(output)))) => {
                bytes += output.bytes().len();
                page.items.push(output.entry(seq));
            }
            // A page reports one gap, at its start. Another gap starts the next page.
            Poll::Ready(Some(LogItem::Gap(_))) if !page.items.is_empty() => break,
            Poll::Ready(Some(LogItem::Gap(gap))) => {
                page.gap = Some(ProcessLogGap { oldest: gap.oldest.get(), newest: gap.newest.get() });
            }
            Poll::Ready(Some(LogItem::Event(_, ProcessEvent::Exited(_))) | None) => return page,
            Poll::Pending => break,
        }
    }
    let position = page.items.last().map_or(follower.position().get(), |item| item.seq);
    page.next_cursor = Some(position.to_string());
    page
}
