//! Writing down what has happened, and only then showing it.

use std::time::Duration;

use jiff::Timestamp;
use journal::durable;
use protocol::{
    Event,
    sessions::{AgentError, Session, SessionState},
    wait::Wait,
};
use tokio::{sync::oneshot, time::Instant};
use tracing::warn;

use super::{Agent, Msg, Reply, Stop, Worker};
use crate::{
    Error,
    draft::Of,
    error::chain,
    kept::{SESSION, note},
    shared::{Doing, describe},
};

/// How long to wait before writing is tried again when it failed.
pub(super) const RETRY: Duration = Duration::from_millis(500);

impl Worker {
    /// Adds an event that the daemon concluded, or what people did.
    pub(super) fn emit(&mut self, event: Event, synthetic: bool) {
        self.note(event, synthetic, None);
    }

    pub(super) fn note(&mut self, mut event: Event, synthetic: bool, raw: Option<&[u8]>) {
        if let Event::Message(message) = &mut event
            && message.turn_id.is_none()
        {
            message.turn_id = self.turn.as_ref().map(|turn| turn.id);
        }
        // The transcript shows the time that the journal has, so that a client that folds the events has the same.
        let time = Timestamp::now();
        self.log.take(&mut event, time);
        let of = Of {
            session: &self.shared.id,
            agent: &self.kept.create.agent,
            agent_session_id: self.kept.agent_session_id.as_deref(),
        };
        self.draft.push(&of, &event, time, synthetic, raw);
    }

    /// Answers once everything so far is written down.
    pub(super) fn answer<T: std::marker::Send + 'static>(
        &mut self,
        reply: Reply<T>,
        result: Result<T, Error>,
    ) {
        // Whoever asked may have gone.
        self.answers.push(Box::new(move || drop(reply.send(result))));
    }

    /// Writes down what has happened, then shows it, answers, and speaks.
    ///
    /// When it cannot be written, nothing else happens until it can: the agent is stopped, as what it does would be on no
    /// record, and who asks is told.
    pub(super) async fn commit(&mut self) {
        let unfinished = self.turn.is_some()
            || self.inputs.queued().next().is_some()
            || self.waits.unsettled().next().is_some();
        self.dirty |= self.log.is_due() || unfinished != self.kept.unfinished;
        let events = self.draft.len() as u64;
        let mut notes = self.inputs.changes();
        notes.extend(self.waits.changes());
        let mut changed = self.dirty || !notes.is_empty();
        // Not for every write: the end of the daemon writes to all sessions, and would make them look used.
        if events > 0 {
            self.kept.updated_at = Timestamp::now();
        }
        if self.dirty {
            notes.extend(self.log.write());
            self.kept.folded = self.newest + events;
            self.kept.messages = self.log.len();
            self.kept.unfinished = unfinished;
            self.kept.turn = self.turn.as_ref().map(|turn| turn.id);
            notes.push(note(SESSION, "", &self.kept));
            self.dirty = false;
        }
        if events > 0 || !notes.is_empty() {
            let frames = self.draft.take();
            while let Err(error) =
                self.shared.journal.append_with_records(frames.clone(), notes.clone()).await
            {
                if !self.wait_for_space(error).await {
                    return;
                }
                changed = true;
            }
            self.newest += events;
        }
        if self.turn.is_none() {
            self.log.shed();
        }
        match changed {
            true => self.publish(),
            false => self.publish_progress(),
        }
        for answer in self.answers.drain(..) {
            answer();
        }
        if let Agent::Running { link, .. } = &mut self.agent {
            for saying in self.says.drain(..) {
                link.say(saying);
            }
        }
        self.says.clear();
    }

    /// Writing failed: waits a little, telling everybody who asks; whether to try again.
    async fn wait_for_space(&mut self, error: durable::Error) -> bool {
        let hopeless =
            matches!(error, durable::Error::Closed | durable::Error::Deleted | durable::Error::Died);
        let error = Error::from(error);
        warn!(session = %self.shared.id, error = %chain(&error), "could not write an event");
        if hopeless {
            let (reply, _) = oneshot::channel();
            self.stopping.get_or_insert((Stop::Shutdown, reply));
            return false;
        }
        if !matches!(self.agent, Agent::Absent) {
            self.stop_agent().await;
            self.is_starved = true;
        }
        self.shared.view.write().error = Some(AgentError::StorageError { message: chain(&error) });
        let retry = Instant::now() + RETRY;
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(retry) => return true,
                msg = self.rx.recv() => match msg {
                    Some(Msg::Stop(why, reply)) => {
                        self.stopping = Some((why, reply));
                        return false;
                    }
                    Some(msg) => msg.refuse(error.clone()),
                    None => return false,
                },
            }
        }
    }

    /// Shows the session as it is now.
    pub(super) fn publish(&self) {
        let waits: Vec<Wait> = self.waits.unsettled().cloned().collect();
        let session = self.session(waits.len());
        *self.shared.view.write() = session;
        self.shared.board.show(&self.shared.id, waits, |id| self.waits.find(id));
    }

    /// Shows how far the session is when nothing else of it can have changed: there are many pieces to a message.
    fn publish_progress(&self) {
        let Doing { state, turn, queued } = self.doing();
        let session = &mut *self.shared.view.write();
        (session.state, session.turn_id, session.queued_inputs, session.newest_seq) =
            (state, turn, queued, self.newest);
    }

    fn doing(&self) -> Doing {
        Doing {
            state: self.state(),
            turn: self.turn.as_ref().map(|turn| turn.id),
            queued: self.inputs.queued().count() as u64,
        }
    }

    /// The session as the API tells it, with so many waits.
    pub(super) fn session(&self, waits: usize) -> Session {
        let doing = self.doing();
        let row = self.agent_row.as_ref();
        describe(&self.shared.id, &self.kept, row, doing, waits as u64, self.newest)
    }

    pub(super) fn state(&self) -> SessionState {
        match (&self.agent, &self.turn) {
            (_, Some(_)) if self.waits.unsettled().next().is_some() => SessionState::Waiting,
            (_, Some(_)) => SessionState::Running,
            (Agent::Absent, None) => SessionState::Dormant,
            (Agent::Running { link, .. }, None) if link.ready => SessionState::Idle,
            (Agent::Starting(_) | Agent::Running { .. }, None) => SessionState::Starting,
        }
    }
}
