//! Restores the state of a session from its records and events.

use journal::{JournalItem, Seq, StartPosition};

use super::ConversationState;
use crate::{
    Error,
    event_batch::EventBatch,
    frame,
    input_queue::InputQueue,
    metrics::SessionMetrics,
    session_handle::SessionHandle,
    session_transcript::SessionTranscript,
    stored_session::{SESSION, StoredSession},
    turn_machine::TurnMachine,
    wait_table::WaitTable,
};

impl ConversationState {
    /// Restores the state of a session from its records, and from the events after the stored transcript.
    pub(crate) async fn restore(handle: &SessionHandle, metrics: SessionMetrics) -> Result<Self, Error> {
        let (id, journal) = (&handle.id, &handle.journal);
        let record = journal.record(SESSION, String::new()).await?;
        let record = record.ok_or_else(|| Error::Damaged(id.clone()))?;
        let stored =
            StoredSession::parse(&record).map_err(|source| Error::unreadable(id, "record", source))?;
        let mut transcript = SessionTranscript::restore(journal, stored.messages).await?;
        replay(handle, &mut transcript, stored.folded).await?;
        Ok(Self {
            id: id.clone(),
            turn: TurnMachine::new(stored.turn, metrics),
            stored,
            is_stored_changed: false,
            inputs: InputQueue::restore(id, journal).await?,
            waits: WaitTable::restore(id, journal).await?,
            transcript,
            batch: EventBatch::default(),
        })
    }

    /// Whether the daemon ended, perhaps without warning, while a turn was running.
    pub(crate) fn was_interrupted(&self) -> bool {
        self.turn.is_running() || self.has_open_wait()
    }
}

/// Applies the events after `seq`, which came after the transcript was last stored.
async fn replay(handle: &SessionHandle, transcript: &mut SessionTranscript, seq: u64) -> Result<(), Error> {
    let newest = handle.journal.bounds().newest;
    let mut at = Seq::new(seq);
    if at >= newest {
        return Ok(());
    }
    let damaged = || Error::Damaged(handle.id.clone());
    let mut reader = handle.journal.reader(StartPosition::Resume(at)).map_err(|_| damaged())?;
    while at < newest {
        match reader.next().await? {
            Some(JournalItem::Frames(chunk)) => {
                for (seq, frame) in chunk.frames() {
                    let record = frame::decode(seq.get(), &frame, false).map_err(|_| damaged())?;
                    transcript.replay(&record.event);
                    at = seq;
                }
            }
            Some(JournalItem::Gap(gap)) => at = gap.oldest.before(),
            None => break,
        }
    }
    Ok(())
}
