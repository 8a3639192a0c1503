//! A part of the log, told at once.

use std::task::{Context, Poll, Waker};

use journal::{Ring, Seq};
use protocol::processes::{ProcessLogGap, ProcessLogPage};

use crate::{Event, Follower, Item};

/// How many pieces a page has at most, and if nothing else is asked for.
pub const PAGE_MAX: usize = 1000;

/// After how many bytes a page ends; JSON may need six times as many.
pub const PAGE_BYTES_MAX: usize = 1 << 20;

/// Up to `limit` pieces of output after `after`, or from the oldest that is kept.
pub(crate) fn read(ring: &Ring, after: Option<Seq>, limit: usize) -> ProcessLogPage {
    let mut follower = Follower::new(ring, after);
    // Nobody waits: what is there is there.
    let mut cx = Context::from_waker(Waker::noop());
    let mut page = ProcessLogPage { items: Vec::new(), gap: None, next_cursor: None };
    let mut bytes = 0;
    while page.items.len() < limit && bytes < PAGE_BYTES_MAX {
        match follower.poll_next(&mut cx) {
            Poll::Ready(Some(Item::Event(seq, Event::Output(output)))) => {
                bytes += output.bytes().len();
                page.items.push(output.entry(seq));
            }
            // A page has room for one gap; whoever is that slow is told of the next one by the next page.
            Poll::Ready(Some(Item::Gap(_))) if !page.items.is_empty() => break,
            Poll::Ready(Some(Item::Gap(gap))) => {
                page.gap = Some(ProcessLogGap { oldest: gap.oldest.get(), newest: gap.newest.get() });
            }
            Poll::Ready(Some(Item::Event(_, Event::Exited(_))) | None) => return page,
            Poll::Pending => break,
        }
    }
    let position = page.items.last().map_or(follower.position().get(), |item| item.seq);
    page.next_cursor = Some(position.to_string());
    page
}
