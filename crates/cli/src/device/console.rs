//! The terminal that a device runs in: what its owner sees of it, what they are asked, and what they say.
//!
//! One task owns it. Without a terminal the same is said in lines, and nobody is asked.

mod keyboard;
mod prompt;
mod question;
mod screen;
mod turn;

use std::{
    collections::HashSet,
    io::{self, IsTerminal},
    time::Duration,
};

use device::{Answer, Device, Lending, Standing, Telling};
use protocol::device::{Connection, Status};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use self::{
    keyboard::{Keyboard, Line},
    prompt::Asked,
    screen::Screen,
    turn::{Event, Turn},
};
use super::control::{about_of, lent, view};
use crate::output::plain;

pub(super) use prompt::prompt;

/// How often the state is drawn: as often as somebody can read it.
const DRAW_EVERY: Duration = Duration::from_millis(200);

/// How many sessions are named that use the device, and how many things that run.
const NAMED_MAX: usize = 3;

/// Whether somebody sits there who can be asked.
pub(super) fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The terminal that a device runs in.
pub(super) struct Console {
    telling: Telling,
    device: Device,
    standing: watch::Receiver<Standing>,
    lending: watch::Receiver<Lending>,
    questions: mpsc::Receiver<Asked>,
    keyboard: Keyboard,
    screen: Screen,
    /// What is being asked.
    turn: Option<Turn>,
    /// Sessions that were named already.
    known: HashSet<Option<String>>,
}

impl Console {
    pub(super) fn new(
        device: &Device,
        standing: watch::Receiver<Standing>,
        telling: Telling,
        questions: mpsc::Receiver<Asked>,
    ) -> Self {
        let attended = is_attended();
        let mut lending = device.control().follow();
        lending.mark_unchanged();
        Self {
            telling,
            device: device.clone(),
            standing,
            lending,
            questions,
            keyboard: Keyboard::open(attended),
            screen: Screen::new(attended),
            turn: None,
            known: HashSet::new(),
        }
    }

    /// Shows what happens until it is over.
    pub(super) async fn run(mut self, over: CancellationToken) {
        let mut used = self.device.usage().follow();
        let mut draw = Some(Instant::now());
        self.on_standing();
        loop {
            let due = draw.filter(|_| self.turn.is_none());
            tokio::select! {
                () = over.cancelled() => break,
                Ok(()) = self.standing.changed() => { self.on_standing(); draw = Some(Instant::now()); }
                Ok(()) = self.lending.changed() => { self.on_lending(); draw = Some(Instant::now()); }
                // Not for each of many requests: what is still to be drawn is drawn as it is then.
                Ok(()) = used.changed(), if draw.is_none() => { self.on_usage(); draw = Some(Instant::now() + DRAW_EVERY); }
                line = self.keyboard.line() => self.on_line(&line),
                Some(asked) = self.questions.recv(), if self.turn.is_none() => self.on_question(asked),
                event = next(&mut self.turn) => { self.on_turn(event); draw = Some(Instant::now()); }
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => { draw = None; self.draw(); }
            }
        }
        self.screen.end();
    }

    /// The connection was made, or lost.
    fn on_standing(&mut self) {
        let standing = self.standing.borrow_and_update().clone();
        let status = (self.telling)();
        let line = match standing {
            Standing::Calling => return,
            Standing::Away { reason } => {
                format!("not connected to {}: {reason}; it is tried again", status.hub)
            }
            Standing::Connected(accepted) => {
                let families: Vec<_> =
                    accepted.accepted_capabilities.iter().map(|family| family.as_str()).collect();
                let accepted = if families.is_empty() { "nothing yet".into() } else { families.join(", ") };
                format!(
                    "connected to {} as {}; lent: {}; accepted: {accepted}",
                    status.hub,
                    status.client_id,
                    lent(&status)
                )
            }
        };
        self.screen.line(&plain(&line));
    }

    /// The owner paused it, or goes on.
    fn on_lending(&mut self) {
        let lending = self.lending.borrow_and_update().clone();
        let line = match lending {
            Lending::Active => "resumed: it does again what it is asked".to_owned(),
            Lending::Paused { reason: None } => "paused: nothing new begins, what runs goes on".into(),
            Lending::Paused { reason: Some(reason) } => {
                format!("paused ({reason}): nothing new begins, what runs goes on")
            }
            Lending::Stopped => "stopped: everything is ended".into(),
        };
        self.screen.line(&plain(&line));
    }

    /// Something began or ended.
    fn on_usage(&mut self) {
        let seen = self.device.usage().seen();
        let known = std::mem::take(&mut self.known);
        for session in seen.sessions.iter().rev().filter(|session| !known.contains(&session.session_id)) {
            let name = session.session_id.as_deref().unwrap_or("without a name");
            self.screen.line(&plain(&format!("session {name} uses this device")));
        }
        // No more than are remembered there.
        self.known = seen.sessions.into_iter().map(|session| session.session_id).collect();
    }

    fn draw(&mut self) {
        let status = (self.telling)();
        self.screen.state(&plain(&state(&status)));
    }

    /// Something is to be asked: it is shown, and can be answered once it has stood there for a while.
    fn on_question(&mut self, asked: Asked) {
        for row in asked.question.rows(self.screen.columns()) {
            self.screen.line(&row);
        }
        self.keyboard.drop_begun();
        self.turn = Some(Turn::new(asked));
    }

    /// Something was typed: an answer, or a word to the device.
    fn on_line(&mut self, line: &Line) {
        self.screen.returned();
        match self.turn.take() {
            Some(turn) => self.on_answer(turn, line),
            None => self.on_word(&line.text),
        }
    }

    fn on_answer(&mut self, turn: Turn, line: &Line) {
        let why_not = match turn.asked.question.answer(&line.text) {
            _ if !turn.takes(line) => "this was typed before the question could be read: it is no answer",
            None => turn.asked.question.hint(),
            Some(answer) => {
                self.screen.line(match answer {
                    Answer::No => "not allowed",
                    Answer::Once => "allowed, this time",
                    Answer::Remember => "allowed, and remembered until you say `forget`",
                });
                return turn.asked.answer(answer);
            }
        };
        self.screen.line(why_not);
        if turn.is_open() {
            self.screen.ask(turn.asked.question.prompt());
        }
        self.turn = Some(turn);
    }

    fn on_word(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let control = self.device.control();
        match word {
            "" => {}
            "pause" => control.pause(Some(rest.trim().to_owned()).filter(|reason| !reason.is_empty())),
            "resume" => control.resume(),
            "forget" => {
                self.device.consent().forget();
                self.screen.line("forgotten: you are asked again");
            }
            "stop" => control.stop(),
            "status" => view(&(self.telling)()).lines().for_each(|line| self.screen.line(line)),
            _ => self.screen.line("type status, pause, resume, forget or stop"),
        }
        self.draw();
    }

    /// Something became of a question without anybody typing.
    fn on_turn(&mut self, event: Event) {
        let end = match (event, &mut self.turn) {
            (_, None) => return,
            (Event::Readable, Some(turn)) => {
                self.keyboard.drop_begun();
                turn.open();
                return self.screen.ask(turn.asked.question.prompt());
            }
            (Event::TooLate, _) => "nobody answered in time: no",
            (Event::Withdrawn, _) => "it is no longer wanted",
        };
        self.turn = None;
        self.screen.line(end);
    }
}

/// Waits until something becomes of a question. Cancel safe.
async fn next(turn: &mut Option<Turn>) -> Event {
    match turn {
        Some(turn) => turn.next().await,
        None => std::future::pending().await,
    }
}

/// How a device is, in a line.
fn state(status: &Status) -> String {
    let connection = match &status.connection {
        Connection::Calling => "calling",
        Connection::Away { .. } => "away",
        Connection::Connected { .. } => "connected",
    };
    let lending = match &status.lending {
        protocol::device::Lending::Active => connection.to_owned(),
        protocol::device::Lending::Paused { .. } => format!("{connection}, paused"),
        protocol::device::Lending::Stopped => "stopped".into(),
    };
    let mut users: Vec<_> =
        status.running.iter().map(|running| running.session_id.as_deref().unwrap_or("?")).collect();
    users.sort_unstable();
    users.dedup();
    let running: Vec<_> = status
        .running
        .iter()
        .map(|running| match about_of(&running.summary) {
            Some(about) => format!("{} {about}", running.method),
            None => running.method.clone(),
        })
        .collect();
    let used = if running.is_empty() {
        "nothing runs".to_owned()
    } else {
        format!("used by {} · runs {}", some(&users), some(&running))
    };
    format!("● {} {lending} · {used}", status.client_id)
}

/// The first of them, and how many more there are.
fn some(names: &[impl AsRef<str>]) -> String {
    let first: Vec<_> = names.iter().take(NAMED_MAX).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(NAMED_MAX) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
