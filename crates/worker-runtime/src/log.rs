//! The transcript of a session: the last messages in memory, all of them in notes.

use std::collections::BTreeSet;

use jiff::Timestamp;
use journal::durable::{DurableJournal, RecordUpdate};
use protocol::{Event, Message, Transcript};

use crate::{
    Error,
    kept::{self, MESSAGE, message_key, note},
};

/// How many messages are kept in memory between turns, and how many a snapshot holds at most.
pub(crate) const LAST_MAX: usize = protocol::SNAPSHOT_MESSAGES_MAX;

/// After so many events the messages that have changed are written, so that opening the session stays quick.
pub(crate) const FOLD_EVENTS: u64 = 1024;

/// The messages of a session.
#[derive(Debug, Default)]
pub(crate) struct Log {
    transcript: Transcript,
    /// How many messages came before those in memory.
    earlier: u64,
    /// Those in memory that have changed since they were written.
    changed: BTreeSet<usize>,
    /// How many events there were since then.
    events: u64,
}

impl Log {
    /// As the notes have it: so many messages.
    pub(crate) async fn open(journal: &DurableJournal, messages: u64) -> Result<Self, Error> {
        let last = journal.last_records(MESSAGE, LAST_MAX as u32).await?;
        // A note that cannot be read is of another version; the events are the truth and it is told anew by them.
        let last: Vec<Message> =
            last.iter().filter_map(|(_, value)| serde_json::from_slice(value).ok()).collect();
        let earlier = messages.saturating_sub(last.len() as u64);
        Ok(Self { transcript: Transcript::resume(last, 0), earlier, ..Self::default() })
    }

    /// Takes an event.
    pub(crate) fn fold(&mut self, event: &Event, time: Timestamp) {
        self.events += 1;
        self.changed.extend(self.transcript.apply_event(event, time));
    }

    /// Takes an event that is new, and says in it what those must know who began with a snapshot.
    pub(crate) fn take(&mut self, event: &mut Event, time: Timestamp) {
        self.events += 1;
        let Some(at) = self.transcript.apply_event(event, time) else { return };
        self.changed.insert(at);
        if at + LAST_MAX >= self.transcript.messages().len() {
            return;
        }
        // Who opens the session has the last ones only, and could not take it.
        self.events = FOLD_EVENTS;
        if let Event::Message(message) = event {
            message.older_than_snapshot = true;
        }
    }

    /// Whether there is enough to be worth writing.
    pub(crate) fn is_due(&self) -> bool {
        self.events >= FOLD_EVENTS
    }

    /// How many messages there are.
    pub(crate) fn len(&self) -> u64 {
        self.earlier + self.transcript.messages().len() as u64
    }

    /// What is to be written; from then on it counts as written.
    pub(crate) fn write(&mut self) -> Vec<RecordUpdate> {
        self.events = 0;
        let changed = std::mem::take(&mut self.changed);
        let messages = self.transcript.messages();
        changed
            .into_iter()
            .filter_map(|at| Some(note(MESSAGE, message_key(self.earlier + at as u64), messages.get(at)?)))
            .collect()
    }

    /// Forgets what is old, if all is written. Between turns only: what comes later changes no message of before.
    pub(crate) fn shed(&mut self) {
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

/// One page of all messages, after the one with the key `after`; and the key to go on with.
pub(crate) async fn page(
    journal: &DurableJournal,
    after: String,
    most: u32,
) -> Result<(Vec<Message>, Option<String>), Error> {
    let mut notes = journal.records(kept::MESSAGE, after, most + 1).await?;
    let more = notes.len() > most as usize;
    notes.truncate(most as usize);
    let next = notes.last().filter(|_| more).map(|(key, _)| key.clone());
    Ok((notes.iter().filter_map(|(_, value)| serde_json::from_slice(value).ok()).collect(), next))
}

#[cfg(test)]
mod tests;
