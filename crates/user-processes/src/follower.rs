//! One reader of what a process writes.

use std::{
    collections::VecDeque,
    future::poll_fn,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use journal::{Gap, Reader, Ring, Seq, Start};

use crate::Event;

/// Follows one process from one position on, to its end. It never makes the process wait for longer than a moment: one
/// that is too slow is told of a gap.
#[derive(Debug)]
pub struct Follower {
    reader: Reader,
    /// What was taken from the journal and not yet handed out.
    taken: VecDeque<(Seq, Bytes)>,
    position: Seq,
}

/// What a follower gets next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// An event and its number.
    Event(Seq, Event),
    /// What was to come next is no longer kept; the next event has the number `oldest`.
    Gap(Gap),
}

impl Follower {
    /// Follows what came after `after`, or all that is kept.
    pub(crate) fn new(ring: &Ring, after: Option<Seq>) -> Self {
        let from = after.map_or(Start::Oldest, Start::Resume);
        let Ok(reader) = ring.reader(from) else {
            unreachable!("only a cursor can be refused, and this is none")
        };
        let position = reader.cursor().seq;
        Self { reader, taken: VecDeque::new(), position }
    }

    /// The number of the last event it got: what to follow after to go on from here.
    pub fn position(&self) -> Seq {
        self.position
    }

    /// The next item; `None` after the end of the process.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        loop {
            if let Some((seq, frame)) = self.taken.pop_front() {
                self.position = seq;
                return Poll::Ready(Some(Item::Event(seq, Event::read(frame))));
            }
            match ready!(self.reader.poll_next(cx)) {
                Some(journal::Item::Frames(chunk)) => self.taken.extend(chunk.frames()),
                Some(journal::Item::Gap(gap)) => {
                    self.position = gap.oldest.before();
                    return Poll::Ready(Some(Item::Gap(gap)));
                }
                None => return Poll::Ready(None),
            }
        }
    }

    /// The next item, waiting for it; `None` after the end of the process. Cancel safe.
    pub async fn next(&mut self) -> Option<Item> {
        poll_fn(|cx| self.poll_next(cx)).await
    }
}
