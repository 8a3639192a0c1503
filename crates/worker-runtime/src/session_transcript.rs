//! The transcript of a session: the last messages in memory, all of them in records.

use std::collections::BTreeSet;

use journal::durable::{DurableJournal, RecordUpdate};
use protocol::{Event, Message, Transcript};

use crate::{
    Error,
    stored_session::{MESSAGE, message_key, record_update},
};

/// The number of messages that stay in memory between turns, and that a snapshot contains at most.
const LAST_MAX: usize = protocol::SNAPSHOT_MESSAGES_MAX;

/// The number of events after which the changed messages are stored. Opening a session applies the events after that, so this
/// bounds the time that it takes.
const STORE_AFTER_EVENTS: u64 = 1024;

/// The transcript of a session: the last messages in memory, all of them in records.
#[derive(Debug, Default)]
pub(crate) struct SessionTranscript {
    transcript: Transcript,
    /// The number of messages before those in memory.
    earlier: u64,
    /// The indices of the messages in memory that are not stored as they are now.
    changed: BTreeSet<usize>,
    /// The number of events since messages were last stored.
    events: u64,
}

impl SessionTranscript {
    /// Reads the last of the `messages` stored messages.
    pub(crate) async fn restore(journal: &DurableJournal, messages: u64) -> Result<Self, Error> {
        let last = journal.last_records(MESSAGE, LAST_MAX as u32).await?;
        // Skip a message that cannot be read: it is derived from the events, which readers still get.
        let last: Vec<Message> =
            last.iter().filter_map(|(_, value)| serde_json::from_slice(value).ok()).collect();
        let earlier = messages.saturating_sub(last.len() as u64);
        Ok(Self { transcript: Transcript::resume(last, 0), earlier, ..Self::default() })
    }

    /// Applies an event that is stored already.
    pub(crate) fn replay(&mut self, event: &Event) {
        self.events += 1;
        self.changed.extend(self.transcript.apply_event(event));
    }

    /// Applies a new event, and marks it if it changes a message that snapshots no longer contain.
    pub(crate) fn apply(&mut self, event: &mut Event) {
        self.events += 1;
        let Some(at) = self.transcript.apply_event(event) else { return };
        self.changed.insert(at);
        if at + LAST_MAX >= self.transcript.messages().len() {
            return;
        }
        // A viewer that started from a snapshot has only the last messages, so it must ignore this event and load the stored
        // message. Hence that is stored with the next commit.
        self.events = STORE_AFTER_EVENTS;
        if let Event::Message(message) = event {
            message.older_than_snapshot = true;
        }
    }

    /// Whether the changed messages should be stored now.
    pub(crate) fn is_due(&self) -> bool {
        self.events >= STORE_AFTER_EVENTS
    }

    /// The number of messages, with those that are only stored.
    pub(crate) fn len(&self) -> u64 {
        self.earlier + self.transcript.messages().len() as u64
    }

    /// Returns the records of the changed messages, which count as stored from then on.
    pub(crate) fn take_updates(&mut self) -> Vec<RecordUpdate> {
        self.events = 0;
        let changed = std::mem::take(&mut self.changed);
        let messages = self.transcript.messages();
        changed
            .into_iter()
            .filter_map(|at| {
                Some(record_update(MESSAGE, message_key(self.earlier + at as u64), messages.get(at)?))
            })
            .collect()
    }

    /// Drops messages but the last from memory, unless some are not stored yet. Call it between turns only, because the events of
    /// a turn may change all of its messages.
    pub(crate) fn trim(&mut self) {
        if !self.changed.is_empty() || self.transcript.messages().len() <= LAST_MAX {
            return;
        }
        self.earlier += self.transcript.keep_last(LAST_MAX).len() as u64;
    }

    /// The last messages, and whether there are earlier ones.
    pub(crate) fn last(&self) -> (Vec<Message>, bool) {
        let messages = self.transcript.messages();
        let skip = messages.len().saturating_sub(LAST_MAX);
        (messages[skip..].to_vec(), self.earlier + skip as u64 > 0)
    }
}

/// A page of the stored messages after the key `after`, and the key for the next page.
pub(crate) async fn message_page(
    journal: &DurableJournal,
    after: String,
    most: u32,
) -> Result<(Vec<Message>, Option<String>), Error> {
    let mut records = journal.records(MESSAGE, after, most + 1).await?;
    let has_more = records.len() > most as usize;
    records.truncate(most as usize);
    let next = records.last().filter(|_| has_more).map(|(key, _)| key.clone());
    Ok((records.iter().filter_map(|(_, value)| serde_json::from_slice(value).ok()).collect(), next))
}

#[cfg(test)]
mod tests;
