//! Adds the times of messages that an earlier version stored without them, from the events of the session.

use std::collections::HashMap;

use jiff::Timestamp;
use journal::{
    JournalItem, Seq, StartPosition,
    durable::{DurableJournal, RecordUpdate},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{Error, frame, stored_session::MESSAGE};

/// How many messages are rewritten in one transaction.
const BATCH_MESSAGES: u32 = 200;

/// The keys of the stored message.
const CREATED_AT: &str = "createdAt";
const UPDATED_AT: &str = "updatedAt";

/// When a message was first and last changed.
#[derive(Debug, Clone, Copy)]
struct MessageTimes {
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// A record of the journal, without everything but its time and the message that it is about.
#[derive(Deserialize)]
struct TimedRecord {
    time: Timestamp,
    event: MessageEvent,
}

/// An event; both are missing if it is not about a message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageEvent {
    message: Option<MessageId>,
    message_delta: Option<DeltaMessageId>,
}

#[derive(Deserialize)]
struct MessageId {
    id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeltaMessageId {
    message_id: String,
}

/// Adds the times to all stored messages, if the newest one lacks them. Only the worker of the session may call this: another
/// writer could undo its changes.
pub(crate) async fn backfill(journal: &DurableJournal) -> Result<(), Error> {
    let newest = journal.last_records(MESSAGE, 1).await?;
    if newest.iter().all(|(_, message)| has_times(message)) {
        return Ok(());
    }
    let times = read_times(journal).await?;
    let mut after = String::new();
    // The newest message is written last, so that an interrupted run is repeated.
    loop {
        let stored = journal.records(MESSAGE, after, BATCH_MESSAGES).await?;
        let Some((last, _)) = stored.last() else { return Ok(()) };
        after = last.clone();
        let updates = stored.iter().filter_map(|(key, message)| with_times(key, message, &times)).collect();
        journal.append_with_records(Default::default(), updates).await?;
    }
}

fn has_times(message: &[u8]) -> bool {
    serde_json::from_slice::<Map<String, Value>>(message)
        // A record that cannot be parsed cannot be completed either.
        .map_or(true, |message| message.contains_key(CREATED_AT))
}

/// The stored message with its times. Fields of other versions stay as they are.
fn with_times(key: &str, message: &[u8], times: &HashMap<String, MessageTimes>) -> Option<RecordUpdate> {
    let mut message: Map<String, Value> = serde_json::from_slice(message).ok()?;
    let times = times.get(message.get("id")?.as_str()?)?;
    message.insert(CREATED_AT.into(), times.created_at.to_string().into());
    message.insert(UPDATED_AT.into(), times.updated_at.to_string().into());
    Some(RecordUpdate::put(MESSAGE, key, serde_json::to_vec(&message).ok()?))
}

/// The times of every message, by its id.
async fn read_times(journal: &DurableJournal) -> Result<HashMap<String, MessageTimes>, Error> {
    let mut times = HashMap::new();
    let newest = journal.bounds().newest;
    let mut seq = Seq::new(0);
    let Ok(mut reader) = journal.reader(StartPosition::Resume(seq)) else { return Ok(times) };
    while seq < newest {
        match reader.next().await? {
            Some(JournalItem::Frames(chunk)) => {
                for (frame_seq, frame) in chunk.frames() {
                    seq = frame_seq;
                    let (body, _) = frame::parts(&frame);
                    if let Ok(record) = serde_json::from_slice::<TimedRecord>(body) {
                        record.add_to(&mut times);
                    }
                }
            }
            Some(JournalItem::Gap(gap)) => seq = gap.oldest.before(),
            None => break,
        }
    }
    Ok(times)
}

impl TimedRecord {
    fn add_to(self, times: &mut HashMap<String, MessageTimes>) {
        let Self { time, event } = self;
        let delta = event.message_delta.map(|delta| delta.message_id);
        if let Some(id) = event.message.map(|message| message.id).or(delta) {
            let first = MessageTimes { created_at: time, updated_at: time };
            times.entry(id).or_insert(first).updated_at = time;
        }
    }
}
