//! A worker out of what was kept.

use std::{path::PathBuf, sync::Arc};

use agents::Definition;
use jiff::Timestamp;
use journal::{JournalItem, Seq, StartPosition};
use protocol::{
    event::{AgentPlan, TokenUsage, TurnEndReason},
    sessions::CreateSessionRequest,
};
use tokio::{sync::mpsc, time::Instant};
use tracing::{Span, warn};

use super::{Agent, Msg, Turn, Worker};
use crate::{
    Error,
    error::chain,
    frame,
    inputs::Inputs,
    kept::{Kept, SESSION},
    launch::Launcher,
    log::Log,
    message_times,
    shared::Shared,
    waits::Waits,
};

/// Why a turn was interrupted and its waits were withdrawn, for users.
const RESTARTED: &str = "the daemon restarted";

/// What is kept of a new session.
pub(crate) fn first(create: CreateSessionRequest, has_secrets: bool, directory: PathBuf) -> Kept {
    let now = Timestamp::now();
    Kept {
        create: CreateSessionRequest { token: None, ..create },
        has_secrets,
        directory,
        first_words: None,
        created_at: now,
        updated_at: now,
        agent_session_id: None,
        usage: TokenUsage::default(),
        error: None,
        runs: 0,
        turn: None,
        unfinished: false,
        folded: 0,
        messages: 0,
        plan: AgentPlan::default(),
        commands: Vec::new(),
    }
}

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
        let Parts { kept, log, inputs, waits, newest } = parts;
        Self {
            shared,
            launcher,
            agent_row,
            rx,
            turn: kept.turn.map(|id| Turn { id, interrupted: None, span: Span::none() }),
            kept,
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
    kept: Kept,
    log: Log,
    inputs: Inputs,
    waits: Waits,
    newest: u64,
}

impl Parts {
    async fn read(shared: &Shared) -> Result<Self, Error> {
        let journal = &shared.journal;
        let damaged = || Error::Damaged(shared.id.clone());
        let kept = journal.record(SESSION, String::new()).await?.ok_or_else(damaged)?;
        let kept: Kept = serde_json::from_slice(&kept).map_err(|_| damaged())?;
        let newest = journal.bounds().newest.get();
        if let Err(error) = message_times::backfill(journal).await {
            // A full disk, for example. The session works without the times, and the next start tries again.
            warn!(session = %shared.id, error = %chain(&error), "could not add the times of earlier messages");
        }
        let mut log = Log::open(journal, kept.messages).await?;
        fold_rest(shared, &mut log, kept.folded).await?;
        let (inputs, waits) = (Inputs::open(journal).await?, Waits::open(journal).await?);
        Ok(Self { kept, log, inputs, waits, newest })
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
                    log.fold(&record.event, record.time);
                    at = seq;
                }
            }
            Some(JournalItem::Gap(gap)) => at = gap.oldest.before(),
            None => break,
        }
    }
    Ok(())
}
