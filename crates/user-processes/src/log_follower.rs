//! A reader of the log of a process.

use std::{
    collections::VecDeque,
    future::poll_fn,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use journal::{Gap, RingJournal, RingReader, Seq, StartPosition};

use crate::ProcessEvent;

/// Follows one process from a position to its exit. It delays the process only for moments: a reader that is too slow gets a
/// gap.
#[derive(Debug)]
pub struct LogFollower {
    reader: RingReader,
    /// Frames that were taken from the journal and not returned yet.
    taken: VecDeque<(Seq, Bytes)>,
    position: Seq,
}

/// The next item of a follower.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogItem {
    /// An event and its number.
    Event(Seq, ProcessEvent),
    /// The next events were evicted; the follower continues at the number `oldest`.
    Gap(Gap),
}

impl LogFollower {
    /// Follows the events after `after`, or all retained ones.
    pub(crate) fn new(ring: &RingJournal, after: Option<Seq>) -> Self {
        let from = after.map_or(StartPosition::Oldest, StartPosition::Resume);
        let Ok(reader) = ring.reader(from) else { unreachable!("only `StartPosition::After` can fail") };
        let position = reader.cursor().seq;
        Self { reader, taken: VecDeque::new(), position }
    }

    /// The number of the last event that was returned; pass it as `after` to continue from here.
    pub fn position(&self) -> Seq {
        self.position
    }

    /// The next item; `None` after the exit.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<LogItem>> {
        loop {
            if let Some((seq, frame)) = self.taken.pop_front() {
                self.position = seq;
                return Poll::Ready(Some(LogItem::Event(seq, ProcessEvent::decode(frame))));
            }
            match ready!(self.reader.poll_next(cx)) {
                Some(journal::JournalItem::Frames(chunk)) => self.taken.extend(chunk.frames()),
                Some(journal::JournalItem::Gap(gap)) => {
                    self.position = gap.oldest.before();
                    return Poll::Ready(Some(LogItem::Gap(gap)));
                }
                None => return Poll::Ready(None),
            }
        }
    }

    /// Waits for the next item; `None` after the exit. Cancel safe.
    pub async fn next(&mut self) -> Option<LogItem> {
        poll_fn(|cx| self.poll_next(cx)).await
    }
}
