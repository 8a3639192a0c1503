//! A worker out of what was kept.

use std::sync::Arc;

use agent_catalog::Definition;
use journal::{JournalItem, Seq, StartPosition};
use protocol::event::TurnEndReason;
use tokio::{sync::mpsc, time::Instant};
use tracing::Span;

use super::{Agent, Msg, Turn, Worker};
use crate::{
    Error, frame,
    inputs::Inputs,
    launch::Launcher,
    log::Log,
    shared::Shared,
    stored_session::{SESSION, StoredSession},
    waits::Waits,
};

/// Why a turn was interrupted and its waits were withdrawn, for users.
const RESTARTED: &str = "the daemon restarted";

impl Worker {
    /// The worker of a session as it was kept.
    pub(crate) async fn open(
        shared: Arc<Shared>,
        launcher: Arc<Launcher>,
        agent_row: Option<Arc<Definition>>,
        rx: mpsc::Receiver<Msg>,
    ) -> Result<Self, (Error, mpsc::Receiver<Msg>)> {
        match Parts::read(&shared).await {
            Ok(parts) => Ok(Self::of(shared, launcher, agent_row, parts, rx)),
            Err(error) => Err((error, rx)),
        }
    }

    fn of(
        shared: Arc<Shared>,
        launcher: Arc<Launcher>,
        agent_row: Option<Arc<Definition>>,
        parts: Parts,
        rx: mpsc::Receiver<Msg>,
    ) -> Self {
        let Parts { stored, log, inputs, waits, newest } = parts;
        Self {
            shared,
            launcher,
            agent_row,
            rx,
            turn: stored.turn.map(|id| Turn { id, interrupted: None, span: Span::none() }),
            stored,
            dirty: false,
            log,
            inputs,
            waits,
            agent: Agent::Absent,
            warnings: Vec::new(),
            wakers: Vec::new(),
            draft: Default::default(),
            says: Vec::new(),
            answers: Vec::new(),
            idle_since: Instant::now(),
            newest,
            is_starved: false,
            stopping: None,
        }
    }

    /// The daemon was ended, perhaps without warning, while a turn ran: it was interrupted by that.
    pub(super) fn recover(&mut self) {
        if self.turn.is_some() || self.waits.unsettled().next().is_some() {
            self.end_turn(TurnEndReason::Interrupted, None, true);
            self.emit_status(Some(RESTARTED.into()));
        }
    }
}

/// What is kept of a session.
struct Parts {
    stored: StoredSession,
    log: Log,
    inputs: Inputs,
    waits: Waits,
    newest: u64,
}

impl Parts {
    async fn read(shared: &Shared) -> Result<Self, Error> {
        let journal = &shared.journal;
        let damaged = || Error::Damaged(shared.id.clone());
        let record = journal.record(SESSION, String::new()).await?.ok_or_else(damaged)?;
        let stored = StoredSession::parse(&record)
            .map_err(|source| Error::unreadable(&shared.id, "record", source))?;
        let newest = journal.bounds().newest.get();
        let mut log = Log::open(journal, stored.messages).await?;
        fold_rest(shared, &mut log, stored.folded).await?;
        let (inputs, waits) =
            (Inputs::open(&shared.id, journal).await?, Waits::open(&shared.id, journal).await?);
        Ok(Self { stored, log, inputs, waits, newest })
    }
}

/// Folds the events that came after the messages were last written.
async fn fold_rest(shared: &Shared, log: &mut Log, folded: u64) -> Result<(), Error> {
    let newest = shared.journal.bounds().newest;
    let mut at = Seq::new(folded);
    if at >= newest {
        return Ok(());
    }
    let damaged = || Error::Damaged(shared.id.clone());
    let mut reader = shared.journal.reader(StartPosition::Resume(at)).map_err(|_| damaged())?;
    while at < newest {
        match reader.next().await? {
            Some(JournalItem::Frames(chunk)) => {
                for (seq, frame) in chunk.frames() {
                    let record = frame::decode(seq.get(), &frame, false).map_err(|_| damaged())?;
                    log.fold(&record.event);
                    at = seq;
                }
            }
            Some(JournalItem::Gap(gap)) => at = gap.oldest.before(),
            None => break,
        }
    }
    Ok(())
}
