//! The terminal that a device runs in: it shows log lines and a status line, asks the owner for approvals, and reads commands.
//!
//! One task owns the terminal, so that output, questions and typed lines never interleave. Without a terminal it only prints
//! log lines, and requests that need an approval are rejected.

mod approval_question;
mod line_reader;
mod open_question;
mod status_screen;
mod terminal_prompt;

use std::{
    collections::HashSet,
    io::{self, IsTerminal},
    time::Duration,
};

use device::{Answer, Device, Lending, Standing, Telling};
use protocol::{
    device::{HubConnectionState, LocalDeviceStatus},
    relay::audit::RequestSummary,
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use self::{
    approval_question::QuestionReply,
    line_reader::{LineReader, TypedLine},
    open_question::{OpenQuestion, QuestionEvent},
    status_screen::StatusScreen,
    terminal_prompt::PendingQuestion,
};
use super::control::{lent_summary, status_view};
use crate::output::plain;

pub(super) use terminal_prompt::prompt;

/// The status line is drawn at most this often, because a busy device changes faster than its owner can read.
const DRAW_INTERVAL: Duration = Duration::from_millis(200);

/// How many sessions, and how many running requests, the status line names.
const NAMED_MAX: usize = 3;

/// Whether a user can be asked: both the input and the output are a terminal.
pub(super) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The terminal that a device runs in.
pub(super) struct DeviceConsole {
    report_status: Telling,
    device: Device,
    standing: watch::Receiver<Standing>,
    lending: watch::Receiver<Lending>,
    questions: mpsc::Receiver<PendingQuestion>,
    typed_lines: LineReader,
    screen: StatusScreen,
    open_question: Option<OpenQuestion>,
    /// Sessions whose first request was already announced.
    announced_sessions: HashSet<Option<String>>,
}

impl DeviceConsole {
    pub(super) fn new(
        device: &Device,
        standing: watch::Receiver<Standing>,
        report_status: Telling,
        questions: mpsc::Receiver<PendingQuestion>,
    ) -> Self {
        let interactive = is_interactive();
        let mut lending = device.control().follow();
        lending.mark_unchanged();
        Self {
            report_status,
            device: device.clone(),
            standing,
            lending,
            questions,
            typed_lines: LineReader::open(interactive),
            screen: StatusScreen::new(interactive),
            open_question: None,
            announced_sessions: HashSet::new(),
        }
    }

    /// Runs the console until `finished` is cancelled.
    pub(super) async fn run(mut self, finished: CancellationToken) {
        let mut usage = self.device.usage().follow();
        // When the status line has to be drawn next, if it is out of date.
        let mut draw_at = Some(Instant::now());
        self.on_standing();
        loop {
            // The status line would overwrite an open question, so it waits until the question is closed.
            let due = draw_at.filter(|_| self.open_question.is_none());
            tokio::select! {
                () = finished.cancelled() => break,
                Ok(()) = self.standing.changed() => { self.on_standing(); draw_at = Some(Instant::now()); }
                Ok(()) = self.lending.changed() => { self.on_lending(); draw_at = Some(Instant::now()); }
                // Ignore further changes while a draw is already scheduled: it will show the newest state anyway.
                Ok(()) = usage.changed(), if draw_at.is_none() => { self.on_usage(); draw_at = Some(Instant::now() + DRAW_INTERVAL); }
                line = self.typed_lines.next_line() => self.on_line(&line),
                Some(pending) = self.questions.recv(), if self.open_question.is_none() => self.on_question(pending),
                event = next_event(&mut self.open_question) => { self.on_question_event(event); draw_at = Some(Instant::now()); }
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => { draw_at = None; self.draw(); }
            }
        }
        self.screen.end();
    }

    /// Logs that the hub connection was established or lost.
    fn on_standing(&mut self) {
        let standing = self.standing.borrow_and_update().clone();
        let status = (self.report_status)();
        let line = match standing {
            Standing::Calling => return,
            Standing::Away { reason } => {
                format!("not connected to {}: {reason}; reconnecting", status.hub)
            }
            Standing::Connected(accepted) => {
                let families: Vec<_> =
                    accepted.accepted_capabilities.iter().map(|family| family.as_str()).collect();
                let accepted = if families.is_empty() { "nothing yet".into() } else { families.join(", ") };
                format!(
                    "connected to {} as {}; lent: {}; accepted: {accepted}",
                    status.hub,
                    status.client_id,
                    lent_summary(&status)
                )
            }
        };
        self.screen.line(&plain(&line));
    }

    /// Logs that the owner paused, resumed or stopped the device.
    fn on_lending(&mut self) {
        let lending = self.lending.borrow_and_update().clone();
        let line = match lending {
            Lending::Active => "resumed: serving requests again".to_owned(),
            Lending::Paused { reason: None } => {
                "paused: new requests are rejected, running ones continue".into()
            }
            Lending::Paused { reason: Some(reason) } => {
                format!("paused ({reason}): new requests are rejected, running ones continue")
            }
            Lending::Stopped => "stopped: ending everything that runs".into(),
        };
        self.screen.line(&plain(&line));
    }

    /// Logs the first request of each session.
    fn on_usage(&mut self) {
        let seen = self.device.usage().seen();
        let announced = std::mem::take(&mut self.announced_sessions);
        for session in seen.sessions.iter().rev().filter(|session| !announced.contains(&session.session_id)) {
            let name = session.session_id.as_deref().unwrap_or("without an id");
            self.screen.line(&plain(&format!("session {name} uses this device")));
        }
        // Keep only the sessions that the device still lists, so that this set stays as bounded as that list.
        self.announced_sessions = seen.sessions.into_iter().map(|session| session.session_id).collect();
    }

    fn draw(&mut self) {
        let status = (self.report_status)();
        self.screen.show_status(&plain(&status_line(&status)));
    }

    /// Shows a question. It can be answered only after it has been visible for a moment, see [`OpenQuestion`].
    fn on_question(&mut self, pending: PendingQuestion) {
        for row in pending.question.first_rows(self.screen.columns()) {
            self.screen.line(&row);
        }
        self.typed_lines.discard_unfinished_line();
        self.open_question = Some(OpenQuestion::new(pending));
    }

    /// Handles a typed line: the answer to the open question, or else a command.
    fn on_line(&mut self, line: &TypedLine) {
        self.screen.line_entered();
        match self.open_question.take() {
            Some(open) => self.on_answer(open, line),
            None => self.on_command(&line.text),
        }
    }

    fn on_answer(&mut self, mut open: OpenQuestion, line: &TypedLine) {
        let problem = match open.pending.question.parse_answer(&line.text) {
            _ if !open.accepts(line) => "ignored: this was typed before the question could be read",
            QuestionReply::Invalid(hint) => hint,
            QuestionReply::ShowAll => {
                for row in open.pending.question.show_all(self.screen.columns()) {
                    self.screen.line(&row);
                }
                self.typed_lines.discard_unfinished_line();
                open.shown_again();
                self.open_question = Some(open);
                return;
            }
            QuestionReply::Answer(answer) => {
                self.screen.line(match answer {
                    Answer::No => "denied",
                    Answer::Once => "allowed once",
                    Answer::Remember => "allowed, and remembered until you type `forget`",
                });
                return open.pending.answer(answer);
            }
        };
        self.screen.line(problem);
        if open.is_answerable() {
            self.screen.show_prompt(open.pending.question.prompt());
        }
        self.open_question = Some(open);
    }

    fn on_command(&mut self, line: &str) {
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        let control = self.device.control();
        match command {
            "" => {}
            "pause" => control.pause(Some(rest.trim().to_owned()).filter(|reason| !reason.is_empty())),
            "resume" => control.resume(),
            "forget" => {
                self.device.consent().forget();
                self.screen.line("forgot all remembered approvals; you are asked again");
            }
            "stop" => control.stop(),
            "status" => status_view(&(self.report_status)()).lines().for_each(|line| self.screen.line(line)),
            _ => self.screen.line("type status, pause, resume, forget or stop"),
        }
        self.draw();
    }

    fn on_question_event(&mut self, event: QuestionEvent) {
        let Some(open) = &mut self.open_question else { return };
        let outcome = match event {
            QuestionEvent::Readable => {
                self.typed_lines.discard_unfinished_line();
                open.allow_answers();
                return self.screen.show_prompt(open.pending.question.prompt());
            }
            QuestionEvent::TimedOut => "denied: no answer in time",
            QuestionEvent::Withdrawn => "the request was cancelled",
        };
        self.open_question = None;
        self.screen.line(outcome);
    }
}

/// The next event of the open question; never returns without one. Cancel safe.
async fn next_event(open: &mut Option<OpenQuestion>) -> QuestionEvent {
    match open {
        Some(open) => open.next_event().await,
        None => std::future::pending().await,
    }
}

/// The status line.
fn status_line(status: &LocalDeviceStatus) -> String {
    let connection = match &status.connection {
        HubConnectionState::Calling => "connecting",
        HubConnectionState::Away { .. } => "disconnected",
        HubConnectionState::Connected { .. } => "connected",
    };
    let lending = match &status.lending {
        protocol::device::LendingState::Active => connection.to_owned(),
        protocol::device::LendingState::Paused { .. } => format!("{connection}, paused"),
        protocol::device::LendingState::Stopped => "stopped".into(),
    };
    let mut users: Vec<_> =
        status.running.iter().map(|running| running.session_id.as_deref().unwrap_or("?")).collect();
    users.sort_unstable();
    users.dedup();
    let running: Vec<_> = status
        .running
        .iter()
        .map(|running| match RequestSummary::subject(&running.summary) {
            Some(subject) => format!("{} {subject}", running.method),
            None => running.method.clone(),
        })
        .collect();
    let used = if running.is_empty() {
        "idle".to_owned()
    } else {
        format!("used by {} · running {}", first_names(&users), first_names(&running))
    };
    format!("● {} {lending} · {used}", status.client_id)
}

/// The first names, and how many more there are.
fn first_names(names: &[impl AsRef<str>]) -> String {
    let first: Vec<_> = names.iter().take(NAMED_MAX).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(NAMED_MAX) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
