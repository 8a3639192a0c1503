//! Somebody who listens to what becomes of the waits.

use std::task::{Context, Poll, ready};

use bytes::Bytes;
use journal::{Item, Reader};
use server::sse;

use super::{Inbox, board::seen};
use crate::caller::Caller;

/// Somebody who listens.
pub(crate) struct Listener {
    inbox: Inbox,
    caller: Caller,
    state: State,
}

/// How far somebody has come.
enum State {
    /// They were told nothing yet, or have missed something.
    New,
    Reading(Reader),
    Over,
}

impl Listener {
    pub(super) fn new(inbox: Inbox, caller: Caller) -> Self {
        inbox.attend();
        Self { inbox, caller, state: State::New }
    }
}

impl sse::Source for Listener {
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Self { inbox, caller, state } = self;
        loop {
            let reader = match state {
                State::New => {
                    let (snapshot, reader) = inbox.0.board.begin(|id| caller.sees(id));
                    *state = reader.map_or(State::Over, State::Reading);
                    return Poll::Ready(Some(sse::messages(&[snapshot])));
                }
                State::Over => return Poll::Ready(None),
                State::Reading(reader) => reader,
            };
            match ready!(reader.poll_next(cx)) {
                None => *state = State::Over,
                // They did not read fast enough: what is open now says it all.
                Some(Item::Gap(_)) => *state = State::New,
                Some(Item::Frames(chunk)) => {
                    let frames = chunk.frames().filter_map(|(_, frame)| seen(&frame, |id| caller.sees(id)));
                    let frames: Vec<Bytes> = frames.collect();
                    if !frames.is_empty() {
                        return Poll::Ready(Some(sse::messages(&frames)));
                    }
                }
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.inbox.0.attendance.go();
    }
}
