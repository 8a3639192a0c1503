//! Somebody who listens to what becomes of the waits.

use bytes::Bytes;
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use journal::{Item, Reader};
use server::sse;

use super::{Inbox, board::seen};
use crate::{caller::Rights, standing::Standing};

/// Somebody who listens.
pub(crate) struct Listener {
    inbox: Inbox,
    standing: Standing,
    /// What they might do when they were last told something.
    rights: Option<Rights>,
    /// What comes next, unless they were told nothing yet or have missed something.
    reader: Option<Reader>,
}

impl Listener {
    pub(super) fn new(inbox: Inbox, standing: Standing) -> Self {
        inbox.attend();
        Self { inbox, standing, rights: None, reader: None }
    }

    /// What they are told, as events: until nothing is told any more, or they are no longer let in.
    pub(crate) fn into_events(self) -> BoxStream<'static, Bytes> {
        stream::unfold(self, |mut listener| async { Some((listener.next().await?, listener)) }).boxed()
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let rights = self.standing.rights()?;
            if self.rights.as_ref() != Some(&rights) {
                // What they see now may be more than before, or less.
                self.reader = None;
                self.rights = Some(rights.clone());
            }
            let Some(reader) = &mut self.reader else {
                let (snapshot, reader) = self.inbox.0.board.begin(|workspace| rights.may_watch(workspace));
                self.reader = Some(reader?);
                return Some(sse::messages(&[snapshot]));
            };
            let item = tokio::select! {
                biased;
                () = self.standing.changed() => continue,
                item = reader.next() => item?,
            };
            match item {
                // They did not read fast enough: what is open now says it all.
                Item::Gap(_) => self.reader = None,
                Item::Frames(chunk) => {
                    let frames = chunk.frames();
                    let frames = frames.filter_map(|(_, frame)| seen(&frame, |it| rights.may_watch(it)));
                    let frames: Vec<Bytes> = frames.collect();
                    if !frames.is_empty() {
                        return Some(sse::messages(&frames));
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
