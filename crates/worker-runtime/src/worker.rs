//! The owner of a session: one task that hears everybody and writes everything down.
//!
//! Whatever happens, the order is the same: events and notes are gathered in a draft, committed together, and only then
//! are they seen, is whoever asked answered, and is anything said to the agent.

mod facts;
mod orders;
mod restore;

use std::{sync::Arc, time::Duration};

use agents::{
    Definition,
    adapter::{Fact, Saying},
};
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use journal::durable;
use protocol::{
    Author, Event, IdempotencyKey, InputId, TurnId, WaitId,
    event::{EndReason, Ended, EndedReason, InputState, TurnEnded},
    sessions::{AgentError, Created, Send, Sent, Snapshot, State},
    wait::{PermissionAnswer, Wait},
};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tracing::{info, warn};

use crate::{
    Error,
    draft::{Draft, Of},
    inputs::Inputs,
    kept::{Kept, SESSION, note},
    launch::{Launcher, Start},
    link::{Link, Said},
    log::Log,
    shared::{Doing, Shared, describe},
    waits::Waits,
};

use facts::reason;
pub(crate) use orders::nobody;
pub(crate) use restore::first;

/// How long an agent may take until it can be told things. Some are 300 MB and start on a busy machine.
const HANDSHAKE: Duration = Duration::from_secs(120);

/// How long an agent may take to end a turn after it was told to, before it is ended itself.
const INTERRUPT: Duration = Duration::from_secs(10);

/// How long to wait before writing is tried again when it failed.
const RETRY: Duration = Duration::from_millis(500);

/// What the worker is asked; each is answered once it is written down.
pub(crate) enum Msg {
    /// Have the agent running.
    Wake(Reply<Created>),
    Send(Send, Option<IdempotencyKey>, Reply<Sent>),
    Edit(InputId, String, Author, Reply<()>),
    Withdraw(InputId, Reply<()>),
    Cancel(Reply<()>),
    Answer(WaitId, Answer, Author, Reply<()>),
    Snapshot(Reply<Snapshot>),
    /// Have all messages in notes.
    Fold(Reply<u64>),
    Inputs(Reply<Vec<protocol::sessions::Input>>),
    Stop(Stop, Reply<()>),
}

pub(crate) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// What a person answers.
pub(crate) enum Answer {
    Permission(PermissionAnswer),
    Answers(Vec<Vec<String>>),
    Reject,
}

/// Why the worker is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The daemon ends; the session stays.
    Shutdown,
    /// The session is deleted.
    Delete,
}

/// The agent of a session.
enum Agent {
    Absent,
    Starting(BoxFuture<'static, Result<Link, AgentError>>),
    Running { link: Box<Link>, deadline: Instant },
}

/// What the agent has come to.
enum Step {
    Started(Result<Box<Link>, AgentError>),
    Said(Vec<Said>),
    Ended,
    TooSlow,
}

/// The turn that runs.
struct Turn {
    id: TurnId,
    /// It was told to end, and has until then.
    interrupted: Option<Instant>,
}

/// The owner of a session.
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    pub(crate) launcher: Arc<Launcher>,
    pub(crate) agent_row: Option<Arc<Definition>>,
    rx: mpsc::Receiver<Msg>,
    kept: Kept,
    dirty: bool,
    log: Log,
    inputs: Inputs,
    waits: Waits,
    turn: Option<Turn>,
    agent: Agent,
    /// Whoever waits to hear whether the agent can be used.
    wakers: Vec<Reply<Created>>,
    draft: Draft,
    says: Vec<Saying>,
    /// What is answered once it is written down.
    answers: Vec<Box<dyn FnOnce() + std::marker::Send>>,
    /// Since when the agent has had nothing to do.
    idle_since: Instant,
    newest: u64,
    stopping: Option<(Stop, Reply<()>)>,
}

impl Worker {
    /// Runs until it is told to end.
    pub(crate) async fn run(mut self) {
        self.recover();
        while self.stopping.is_none() {
            self.pump();
            self.commit().await;
            if self.stopping.is_some() {
                break;
            }
            let (due, slow) = (self.next_due(), self.interrupt_deadline());
            let idle = self.idle_deadline();
            tokio::select! {
                msg = self.rx.recv() => match msg {
                    Some(msg) => self.on_msg(msg),
                    None => break,
                },
                step = self.agent.step() => self.on_step(step).await,
                () = sleep_until(due) => self.expire(),
                () = sleep_until(slow) => self.give_up().await,
                () = sleep_until(idle) => self.rest().await,
            }
        }
        self.end().await;
    }

    fn on_msg(&mut self, msg: Msg) {
        match msg {
            Msg::Wake(reply) => self.wake(reply),
            Msg::Send(send, key, reply) => {
                let result = self.accept(send, key);
                self.answer(reply, result);
            }
            Msg::Edit(id, message, author, reply) => {
                let edited = self.inputs.edit(id, message, &author);
                let result = edited.map(|receipt| self.emit(Event::Input(receipt), true));
                self.answer(reply, result);
            }
            Msg::Withdraw(id, reply) => {
                let withdrawn = self.inputs.withdraw(id);
                let result = withdrawn.map(|receipt| self.emit(Event::Input(receipt), true));
                self.answer(reply, result);
            }
            Msg::Cancel(reply) => {
                self.interrupt();
                self.answer(reply, Ok(()));
            }
            Msg::Answer(wait, answer, author, reply) => {
                let result = self.settle(wait, answer, author);
                self.answer(reply, result);
            }
            Msg::Snapshot(reply) => {
                let snapshot = self.snapshot();
                self.answer(reply, Ok(snapshot));
            }
            Msg::Fold(reply) => {
                self.dirty = true;
                let newest = self.newest;
                self.answer(reply, Ok(newest));
            }
            Msg::Inputs(reply) => {
                let queued = self.inputs.queued().cloned().collect();
                self.answer(reply, Ok(queued));
            }
            Msg::Stop(why, reply) => self.stopping = Some((why, reply)),
        }
    }

    async fn on_step(&mut self, step: Step) {
        match step {
            Step::Started(Ok(mut link)) => {
                let out = link.start();
                let deadline = Instant::now() + HANDSHAKE;
                self.agent = Agent::Running { link, deadline };
                self.take(out, None);
            }
            Step::Started(Err(error)) => self.fail(&error),
            Step::Said(said) => {
                for Said { out, raw } in said {
                    self.take(out, raw.as_deref());
                }
            }
            Step::Ended => {
                if let Agent::Running { link, .. } = std::mem::replace(&mut self.agent, Agent::Absent) {
                    let (leaving, ready) = (link.leaving, link.ready);
                    let introduced = link.introduced;
                    let error = link.gone().await;
                    info!(session = %self.shared.id, ?error, "the agent ended");
                    match leaving {
                        true => self.left(),
                        false if !introduced && self.is_forgotten(&error) => {
                            self.start_afresh(&reason(&error))
                        }
                        false if ready => self.died(error),
                        false => self.fail(&error),
                    }
                }
            }
            Step::TooSlow => {
                self.stop_agent().await;
                self.fail(&AgentError::Timeout { message: "it did not get ready in time".into() });
            }
        }
    }

    /// Whether the agent could not go on with its earlier conversation and said so only on its way out.
    fn is_forgotten(&self, error: &AgentError) -> bool {
        let (Some(id), AgentError::ProcessExited { code: Some(_), stderr, .. }) =
            (&self.kept.agent_session_id, error)
        else {
            return false;
        };
        stderr.contains(id.as_str())
    }

    /// Notes what came of hearing or telling something.
    fn take(&mut self, out: agents::adapter::Out, raw: Option<&[u8]>) {
        self.says.extend(out.says);
        let mut raw = raw;
        for fact in out.facts {
            // What was said belongs to the first event that came of it; a receipt is not the agent's.
            let receipt = matches!(fact, Fact::Consumed(_) | Fact::Refused { .. });
            let before = self.draft.len();
            self.on_fact(fact, raw);
            if self.draft.len() > before && !receipt {
                raw = None;
            }
        }
    }

    /// Adds an event that the daemon concluded, or what people did.
    fn emit(&mut self, event: Event, synthetic: bool) {
        self.note(event, synthetic, None);
    }

    fn note(&mut self, mut event: Event, synthetic: bool, raw: Option<&[u8]>) {
        if let Event::Message(message) = &mut event
            && message.turn_id.is_none()
        {
            message.turn_id = self.turn.as_ref().map(|turn| turn.id);
        }
        self.log.fold(&event);
        let of = Of {
            session: &self.shared.id,
            agent: &self.kept.create.agent,
            agent_session_id: self.kept.agent_session_id.as_deref(),
        };
        self.draft.push(&of, &event, synthetic, raw);
    }

    /// Answers once everything so far is written down.
    fn answer<T: std::marker::Send + 'static>(&mut self, reply: Reply<T>, result: Result<T, Error>) {
        // Whoever asked may have gone.
        self.answers.push(Box::new(move || drop(reply.send(result))));
    }

    /// Writes down what has happened, then shows it, answers, and speaks.
    ///
    /// When it cannot be written, nothing else happens until it can: the agent waits at its pipe, and who asks is told.
    async fn commit(&mut self) {
        let unfinished = self.turn.is_some()
            || self.inputs.queued().next().is_some()
            || self.waits.unsettled().next().is_some();
        self.dirty |= self.log.is_due() || unfinished != self.kept.unfinished;
        let events = self.draft.len() as u64;
        let mut notes = self.inputs.changes();
        notes.extend(self.waits.changes());
        if self.dirty {
            notes.extend(self.log.write());
            self.kept.folded = self.newest + events;
            self.kept.messages = self.log.len();
            self.kept.unfinished = unfinished;
            self.kept.turn = self.turn.as_ref().map(|turn| turn.id);
            self.kept.updated_at = Timestamp::now();
            notes.push(note(SESSION, "", &self.kept));
            self.dirty = false;
        }
        if events > 0 || !notes.is_empty() {
            let frames = self.draft.take();
            while let Err(error) = self.shared.journal.append_noting(frames.clone(), notes.clone()).await {
                if !self.wait_for_space(error).await {
                    return;
                }
            }
            self.newest += events;
        }
        if self.turn.is_none() {
            self.log.shed();
        }
        self.publish();
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
        warn!(session = %self.shared.id, error = %chain(&error), "an event could not be written");
        if hopeless {
            let (reply, _) = oneshot::channel();
            self.stopping.get_or_insert((Stop::Shutdown, reply));
            return false;
        }
        self.shared.view.write().session.error = Some(AgentError::StorageError { message: chain(&error) });
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
    fn publish(&self) {
        let waits: Vec<Wait> = self.waits.unsettled().cloned().collect();
        let mut view = self.shared.view.write();
        view.session = describe(
            &self.shared.id,
            &self.kept,
            self.agent_row.as_ref(),
            self.doing(),
            waits.len() as u64,
            self.newest,
        );
        view.waits = waits;
    }

    fn doing(&self) -> Doing {
        Doing {
            state: self.state(),
            turn: self.turn.as_ref().map(|turn| turn.id),
            queued: self.inputs.queued().count() as u64,
        }
    }

    fn state(&self) -> State {
        match (&self.agent, &self.turn) {
            (_, Some(_)) if self.waits.unsettled().next().is_some() => State::Waiting,
            (_, Some(_)) => State::Running,
            (Agent::Absent, None) => State::Dormant,
            (Agent::Running { link, .. }, None) if link.ready => State::Idle,
            (Agent::Starting(_) | Agent::Running { .. }, None) => State::Starting,
        }
    }

    /// Starts the agent, unless it runs or is being started.
    fn start_agent(&mut self) {
        if !matches!(self.agent, Agent::Absent) {
            return;
        }
        self.kept.runs += 1;
        self.dirty = true;
        let mut create = self.kept.create.clone();
        create.token = self.shared.token.lock().as_ref().map(|token| token.reveal().to_owned());
        let start = Start {
            create,
            directory: self.kept.directory.clone(),
            private: self.launcher.private(&self.shared.id),
            run: format!("r{}", self.kept.runs),
            resume: self.kept.agent_session_id.clone(),
        };
        let launcher = self.launcher.clone();
        self.agent = Agent::Starting(Box::pin(async move { launcher.start(start).await }));
        self.emit_status(None);
    }

    async fn stop_agent(&mut self) {
        if let Agent::Running { link, .. } = std::mem::replace(&mut self.agent, Agent::Absent) {
            link.stop().await;
        }
    }

    /// The agent has had nothing to do for long: it is started again when there is something.
    async fn rest(&mut self) {
        info!(session = %self.shared.id, "the agent had nothing to do and was ended");
        self.stop_agent().await;
        self.emit_status(None);
    }

    /// The agent does not end its turn: it is ended itself.
    async fn give_up(&mut self) {
        self.stop_agent().await;
        self.end_turn(EndReason::Interrupted, None, true);
        self.emit_status(None);
    }

    /// Ends the agent and what it did, and writes that down.
    async fn end(&mut self) {
        self.wind_down().await;
        let Some((why, reply)) = self.stopping.take() else { return self.stop_agent().await };
        self.stop_agent().await;
        if self.turn.is_some() {
            self.end_turn(EndReason::Interrupted, None, true);
        }
        if why == Stop::Delete {
            for id in self.inputs.queued().map(|input| input.id).collect::<Vec<_>>() {
                self.advance(id, InputState::Refused, Some("the session was deleted"));
            }
            self.emit(Event::Ended(Ended { reason: EndedReason::Deleted }), true);
        }
        self.dirty = true;
        self.rx.close();
        self.commit().await;
        self.shared.journal.seal();
        while let Ok(msg) = self.rx.try_recv() {
            msg.refuse(Error::Ending(self.shared.id.clone()));
        }
        for waker in self.wakers.drain(..) {
            let _ = waker.send(Err(Error::Ending(self.shared.id.clone())));
        }
        let _ = reply.send(Ok(()));
    }

    /// A server goes on without us: what it does for us is ended first.
    async fn wind_down(&mut self) {
        let shared = matches!(&self.agent, Agent::Running { link, .. } if link.is_shared());
        if !shared || self.turn.is_none() {
            return;
        }
        self.interrupt();
        let deadline = Some(Instant::now() + self.launcher.config.grace);
        while self.turn.is_some() {
            self.commit().await;
            tokio::select! {
                step = self.agent.step() => self.on_step(step).await,
                () = sleep_until(deadline) => break,
            }
        }
    }

    /// Ends the turn that runs, if one does.
    fn end_turn(&mut self, reason: EndReason, usage: Option<protocol::event::Usage>, synthetic: bool) {
        for event in self.waits.withdraw_all() {
            self.emit(event, true);
        }
        for id in self.inputs.delivered() {
            self.advance(id, InputState::Consumed, None);
        }
        let Some(turn) = self.turn.take() else { return };
        self.emit(Event::TurnEnded(TurnEnded { turn_id: turn.id, reason, usage }), synthetic);
        self.idle_since = Instant::now();
        self.dirty = true;
    }

    fn advance(&mut self, id: InputId, state: InputState, reason: Option<&str>) {
        if let Some(receipt) = self.inputs.advance(id, state, reason) {
            self.emit(Event::Input(receipt), true);
        }
    }

    fn next_due(&self) -> Option<Instant> {
        let due = self.waits.next_due()?;
        let left = due.duration_since(Timestamp::now());
        Some(Instant::now() + Duration::try_from(left).unwrap_or_default())
    }

    fn interrupt_deadline(&self) -> Option<Instant> {
        self.turn.as_ref().and_then(|turn| turn.interrupted)
    }

    fn idle_deadline(&self) -> Option<Instant> {
        let can_go_on =
            self.agent_row.as_ref().is_some_and(|agent| agent.capabilities.resume) && self.turn.is_none();
        let idle = matches!(&self.agent, Agent::Running { link, .. } if link.ready) && can_go_on;
        idle.then(|| self.idle_since + self.launcher.config.idle)
    }
}

impl Agent {
    /// Waits for what it comes to. Cancel safe.
    async fn step(&mut self) -> Step {
        match self {
            Agent::Absent => std::future::pending().await,
            Agent::Starting(starting) => Step::Started(starting.await.map(Box::new)),
            Agent::Running { link, deadline } => {
                let slow = (!link.ready).then_some(*deadline);
                tokio::select! {
                    said = link.hear() => said.map_or(Step::Ended, Step::Said),
                    () = sleep_until(slow) => Step::TooSlow,
                }
            }
        }
    }
}

impl Msg {
    /// Answers that it cannot be done.
    pub(crate) fn refuse(self, error: Error) {
        match self {
            Msg::Wake(reply) => drop(reply.send(Err(error))),
            Msg::Send(_, _, reply) => drop(reply.send(Err(error))),
            Msg::Edit(_, _, _, reply)
            | Msg::Withdraw(_, reply)
            | Msg::Cancel(reply)
            | Msg::Answer(_, _, _, reply)
            | Msg::Stop(_, reply) => drop(reply.send(Err(error))),
            Msg::Snapshot(reply) => drop(reply.send(Err(error))),
            Msg::Fold(reply) => drop(reply.send(Err(error))),
            Msg::Inputs(reply) => drop(reply.send(Err(error))),
        }
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
