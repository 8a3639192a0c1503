//! What was asked of people and answered, on disk.

use std::{collections::VecDeque, num::NonZeroU64};

use journal::{
    FrameBuffer, JournalItem, Retention, Seq, StartPosition,
    durable::{DurableJournal, Error, JournalStore, RecordUpdate},
};
use protocol::{
    inbox::{InboxEvent, InboxWait},
    wait::WaitRequest,
};
use serde_json::Value;

/// The name of the journal in its file, and of its notes.
const JOURNAL: &str = "approvals";
const OPEN: &str = "open";

/// How much of what was asked and answered is kept.
const KEPT: Retention =
    Retention { events: NonZeroU64::new(100_000).unwrap(), bytes: NonZeroU64::new(256 << 20).unwrap() };

/// What was asked of people and answered.
pub(super) struct Record {
    journal: DurableJournal,
}

impl Record {
    /// In this file; and what is open there.
    pub(super) async fn open(store: &JournalStore) -> Result<(Self, Vec<InboxWait>), Error> {
        let journal = store.journal(JOURNAL, KEPT).await?;
        let notes = store.records(OPEN).await?;
        // One that cannot be read is of a newer version.
        let open = notes.iter().filter_map(|note| serde_json::from_slice(&note.value).ok()).collect();
        Ok((Self { journal }, open))
    }

    /// Those that were settled last, the newest first.
    pub(super) async fn recall(&self, most: usize) -> Result<VecDeque<InboxWait>, Error> {
        let newest = self.journal.bounds().newest;
        let from = Seq::new(newest.get().saturating_sub(2 * most as u64));
        let (mut at, mut settled) = (from, VecDeque::new());
        // A bare number opens a reader whatever it is.
        let Ok(mut reader) = self.journal.reader(StartPosition::Resume(from)) else {
            return Err(Error::Died);
        };
        while at < newest {
            match reader.next().await? {
                None => break,
                Some(JournalItem::Gap(gap)) => at = gap.oldest.before(),
                Some(JournalItem::Frames(chunk)) => {
                    for (seq, frame) in chunk.frames() {
                        at = seq;
                        if let Ok(InboxEvent::Settled { wait }) = serde_json::from_slice(&frame) {
                            settled.push_front(*wait);
                        }
                    }
                }
            }
        }
        settled.truncate(most);
        Ok(settled)
    }

    /// Writes down how it is, without contents, arguments and variables.
    pub(super) async fn write(&self, item: &InboxWait) -> Result<(), Error> {
        let item = plain(item.clone());
        let (key, wait) = (item.wait.id.to_string(), Box::new(item.clone()));
        // A wire type always can be serialised.
        let value = || serde_json::to_vec(&item).unwrap_or_default();
        let (event, note) = match item.wait.settlement {
            None => (InboxEvent::Opened { wait }, RecordUpdate::put(OPEN, key, value())),
            Some(_) => (InboxEvent::Settled { wait }, RecordUpdate::delete(OPEN, key)),
        };
        let frame = serde_json::to_vec(&event).unwrap_or_default();
        self.journal.append_with_records(FrameBuffer::one(frame), vec![note]).await.map(drop)
    }
}

/// What is written down of a question: which it was, not what was asked.
fn plain(mut item: InboxWait) -> InboxWait {
    if let WaitRequest::Permission(permission) = &mut item.wait.request {
        permission.title.clone_from(&permission.tool);
        permission.reason = None;
        permission.input = Value::Null;
    }
    item
}
