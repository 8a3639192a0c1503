//! `tombolo chat`: a conversation with an agent in the terminal, line by line.
//!
//! One loop hears the session, the keyboard and the signals. What is typed is never lost: while the agent works it waits
//! for its turn in the daemon.

pub(crate) mod ask;
mod diff;
mod keyboard;
mod options;
mod printer;
mod screen;
mod session;
mod show;

use std::{
    collections::{HashSet, VecDeque},
    process::ExitCode,
    time::Duration,
};

use client::{Client, RecordEvent, Records};
use protocol::{
    Event, EventRecord, ProblemKind, SessionId, TurnId,
    event::{InputState, TurnEndReason},
    sessions::{AnswerPermissionRequest, AnswerQuestionRequest, WhenBusy},
};
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use options::ChatOptions;

use crate::exit::{self, Failure, Outcome};
use ask::{Answered, Asking};
use keyboard::{Keyboard, Typed};
use screen::{Look, Screen};
use session::Opened;
use show::Show;

/// How long a daemon that is gone is waited for.
const PATIENCE: Duration = Duration::from_secs(120);

/// How many messages of before are shown.
const PAST_MAX: usize = 6;

/// Talks until one of the two leaves.
pub(crate) fn run(options: &ChatOptions) -> ExitCode {
    let outcome = options.server.connect().and_then(|client| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let outcome = runtime.block_on(talk(&client, options));
        // A thread may still wait for the keyboard, which nobody needs any more.
        runtime.shutdown_background();
        outcome
    });
    let unreachable = matches!(outcome, Err(Failure::Unreachable(_)));
    let code = exit::report(outcome, false, &format!("tombolo chat at {}", options.server.url()));
    if unreachable {
        exit::say("start a daemon with `tombolo up`, or say where one is with --endpoint");
    }
    code
}

async fn talk(client: &Client, options: &ChatOptions) -> Outcome {
    let Opened { id, snapshot, resumed } = session::open(client, options).await?;
    let events = client.sessions().events(&id, snapshot.seq, false).await?.patient(PATIENCE);
    let (keyboard, printer) = Keyboard::open()?;
    let mut screen = Screen::new(keyboard.is_terminal());
    screen.set_printer(printer);
    let mut show = Show::new(screen);
    show.greet(&snapshot.session, resumed)?;
    if resumed {
        let skip = snapshot.messages.len().saturating_sub(PAST_MAX);
        if snapshot.has_earlier || skip > 0 {
            show.screen.line(Look::Dim, "…")?;
        }
        snapshot.messages[skip..].iter().try_for_each(|message| show.past(message))?;
    }
    let asked = snapshot.waits.iter().map(Asking::new).collect();
    let chat = Chat {
        client,
        id,
        show,
        keyboard,
        asked,
        shown: false,
        running: snapshot.session.turn_id,
        sent: HashSet::new(),
        ended: false,
        leaving: false,
        last: None,
    };
    chat.run(events).await
}

struct Chat<'a> {
    client: &'a Client,
    id: SessionId,
    show: Show,
    keyboard: Keyboard,
    /// What the agent asks, in order.
    asked: VecDeque<Asking>,
    /// The first of them is on the screen.
    shown: bool,
    running: Option<TurnId>,
    /// The turns of what was typed here and that have not ended.
    sent: HashSet<TurnId>,
    /// Nothing more is typed.
    ended: bool,
    /// Ctrl-C was pressed; once more leaves.
    leaving: bool,
    /// How the last turn ended.
    last: Option<TurnEndReason>,
}

impl Chat<'_> {
    async fn run(mut self, mut events: Records) -> Outcome {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        loop {
            if self.ended && !self.is_busy() {
                break;
            }
            self.ask_on_behalf_of_nobody().await?;
            self.offer()?;
            let listens = self.listens();
            let stays = tokio::select! {
                event = events.next() => match event? {
                    Some(RecordEvent::Record(record, _)) => self.on_record(&record)?,
                    Some(RecordEvent::Gap(_)) => {
                        self.show.screen.line(Look::Red, "[events are missing here]")?;
                        true
                    }
                    Some(RecordEvent::Other(..)) => true,
                    None => return Err(gone("the session is gone")),
                },
                typed = self.keyboard.next(), if listens => self.on_typed(typed).await?,
                _ = interrupt.recv() => {
                    self.show.screen.echoed();
                    self.interrupt().await?
                }
                _ = terminate.recv() => false,
            };
            if !stays {
                break;
            }
        }
        self.farewell()
    }

    fn is_busy(&self) -> bool {
        self.running.is_some() || !self.sent.is_empty()
    }

    /// Whether what is typed can be used now: without a terminal each prompt waits for the end of the one before.
    fn listens(&self) -> bool {
        !self.ended && (self.keyboard.is_terminal() || !self.is_busy() || !self.asked.is_empty())
    }

    /// Lets something be typed: an answer, a prompt, or what is to wait.
    fn offer(&mut self) -> Outcome {
        if let Some(asking) = self.asked.front() {
            if !self.shown {
                self.shown = true;
                asking.show(&mut self.show.screen)?;
            }
            let prompt = asking.prompt();
            return self.edit(prompt);
        }
        match self.is_busy() && !self.show.screen.is_typing() {
            true => {
                self.keyboard.watch();
                Ok(())
            }
            false => self.edit("> "),
        }
    }

    fn edit(&mut self, prompt: &'static str) -> Outcome {
        if self.keyboard.is_terminal() && !self.keyboard.is_editing() {
            self.show.screen.begin_typing()?;
            self.keyboard.edit(prompt);
        }
        Ok(())
    }

    /// Nobody is there to be asked any more.
    async fn ask_on_behalf_of_nobody(&mut self) -> Outcome {
        while self.ended
            && let Some(asking) = self.asked.pop_front()
        {
            self.shown = false;
            asking.show(&mut self.show.screen)?;
            let answer = asking.rejected();
            self.answer(&asking, answer).await?;
        }
        Ok(())
    }

    fn on_record(&mut self, record: &EventRecord) -> Result<bool, Failure> {
        self.show.record(record)?;
        match &record.event {
            Event::TurnStarted(started) => self.running = Some(started.turn_id),
            Event::TurnEnded(ended) => {
                self.running = None;
                self.leaving = false;
                self.sent.remove(&ended.turn_id);
                self.last = Some(ended.reason);
            }
            Event::Input(receipt)
                if matches!(receipt.state, InputState::Refused | InputState::Withdrawn)
                    && receipt.turn_id != self.running
                    && receipt.turn_id.is_some_and(|turn| self.sent.remove(&turn)) =>
            {
                self.last = Some(TurnEndReason::Failed);
            }
            Event::PermissionAsked(permission) => {
                self.asked
                    .push_back(Asking::of(&protocol::wait::WaitRequest::Permission(permission.clone())));
            }
            Event::QuestionAsked(question) => {
                self.asked.push_back(Asking::of(&protocol::wait::WaitRequest::Question(question.clone())));
            }
            Event::PermissionResolved(resolved) => self.settled(resolved.id),
            Event::QuestionResolved(resolved) => self.settled(resolved.id),
            Event::Ended(_) => return Err(gone("the session was deleted")),
            _ => {}
        }
        Ok(true)
    }

    /// Somebody has answered, perhaps somebody else.
    fn settled(&mut self, id: protocol::WaitId) {
        let first = self.asked.front().is_some_and(|asking| asking.id == id);
        self.shown &= !first;
        self.asked.retain(|asking| asking.id != id);
    }

    async fn on_typed(&mut self, typed: Typed) -> Result<bool, Failure> {
        if !self.keyboard.is_editing() {
            self.show.screen.end_typing()?;
            self.show.screen.returned();
        }
        match typed {
            Typed::End => {
                self.ended = true;
                // Whoever sits there wants to leave; a program wants what it asked for.
                Ok(!self.keyboard.is_terminal())
            }
            Typed::Interrupt => self.interrupt().await,
            Typed::Line(line) => {
                self.leaving = false;
                self.on_line(line).await
            }
        }
    }

    async fn on_line(&mut self, line: String) -> Result<bool, Failure> {
        if let Some(mut asking) = self.asked.pop_front() {
            match asking.take(&line) {
                Answered::Again(hint) if self.keyboard.is_terminal() => {
                    self.show.screen.line(Look::Dim, hint)?;
                    self.asked.push_front(asking);
                }
                // A program that does not answer has said its next prompt.
                Answered::Again(_) => {
                    let no = asking.rejected();
                    self.answer(&asking, no).await?;
                    self.send(line).await?;
                }
                Answered::More => {
                    self.shown = false;
                    self.asked.push_front(asking);
                }
                answer => self.answer(&asking, answer).await?,
            }
            return Ok(true);
        }
        if line.trim().is_empty() {
            return Ok(true);
        }
        if self.keyboard.is_terminal() && line.trim() == "/quit" {
            return Ok(false);
        }
        self.send(line).await?;
        Ok(true)
    }

    async fn send(&mut self, line: String) -> Outcome {
        let busy = self.is_busy();
        let steered = line.strip_prefix('!').filter(|_| busy).map(|rest| rest.trim().to_owned());
        let (message, when_busy) = match steered {
            Some(message) => (message, WhenBusy::Steer),
            None => (line, WhenBusy::Queue),
        };
        match session::send(self.client, &self.id, message, when_busy).await {
            Ok(sent) => {
                self.sent.insert(sent.turn_id);
                // What waits is shown when its turn has come.
                if !busy || when_busy == WhenBusy::Steer {
                    self.show.own(sent.input_id);
                }
                match (busy, when_busy) {
                    (true, WhenBusy::Steer) => self.show.screen.line(Look::Dim, "  told the agent"),
                    (true, _) => self.show.screen.line(Look::Dim, "  waits for its turn"),
                    (false, _) => Ok(()),
                }
            }
            Err(error) if error.kind() == Some(ProblemKind::UnsupportedFeature) => {
                let hint = "this agent cannot be told more while it works; without `!` it waits for its turn";
                self.show.screen.line(Look::Yellow, hint)
            }
            Err(error) if error.kind() == Some(ProblemKind::QueueFull) => {
                self.show.screen.line(Look::Yellow, "too much waits already; try again when a turn has ended")
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn answer(&mut self, asking: &Asking, answer: Answered) -> Outcome {
        self.shown = false;
        let (sessions, id, author) = (self.client.sessions(), &self.id, None);
        let answered = match answer {
            Answered::Permission(reply) => {
                sessions.permit(id, asking.id, &AnswerPermissionRequest { reply, author }).await
            }
            Answered::Question(answers) => {
                sessions.answer(id, asking.id, &AnswerQuestionRequest { answers, author }).await
            }
            _ => sessions.reject(id, asking.id, author).await,
        };
        match answered {
            Ok(_) => Ok(()),
            // Somebody was faster, or the turn is over; both are told by the events.
            Err(error)
                if matches!(error.kind(), Some(ProblemKind::WaitSettled | ProblemKind::WaitNotFound)) =>
            {
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Ctrl-C: the turn is interrupted; with nothing to interrupt, or pressed again, it leaves.
    async fn interrupt(&mut self) -> Result<bool, Failure> {
        if std::mem::replace(&mut self.leaving, true) {
            return Ok(false);
        }
        if self.is_busy() {
            self.show.screen.line(Look::Dim, "– interrupting; Ctrl-C again leaves")?;
            self.client.sessions().cancel(&self.id).await?;
        } else {
            self.show.screen.line(Look::Dim, "Ctrl-C again leaves, and so does Ctrl-D")?;
        }
        Ok(true)
    }

    fn farewell(mut self) -> Outcome {
        self.show.screen.stop_typing()?;
        self.show.screen.fresh()?;
        if self.keyboard.is_terminal() {
            let works = if self.is_busy() { "the agent works on; " } else { "" };
            let line = format!("{works}`tombolo chat --session {}` goes on", self.id);
            return self.show.screen.line(Look::Dim, &line);
        }
        match self.last {
            Some(TurnEndReason::Failed) => Err(Failure::TurnFailed("the last turn failed".into())),
            Some(TurnEndReason::Interrupted) => {
                Err(Failure::TurnFailed("the last turn was interrupted".into()))
            }
            Some(TurnEndReason::Refused) => Err(Failure::TurnFailed("the model refused".into())),
            _ => Ok(()),
        }
    }
}

fn gone(how: &str) -> Failure {
    Failure::AgentEnded { how: how.into(), last_words: String::new() }
}
