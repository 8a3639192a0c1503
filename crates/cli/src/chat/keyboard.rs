//! What is typed: with an editor when it is our turn to type, and plain lines while the agent speaks.
//!
//! A thread of its own owns standard input, because both ways of reading block.

use std::{
    io::{self, BufRead, IsTerminal, Write},
    os::fd::OwnedFd,
    thread,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    termios::{self, OptionalActions, Termios},
};
use rustyline::{Config, DefaultEditor, error::ReadlineError};
use tokio::sync::mpsc;

use super::printer::Printer;
use crate::exit::{Failure, local};

/// How many lines may be typed ahead.
const LINES_MAX: usize = 64;

/// The longest line that is read while the agent speaks; the kernel has none longer.
const LINE_BYTES_MAX: usize = 64 << 10;

/// How many lines are remembered for the arrow keys.
const HISTORY_MAX: usize = 500;

/// Something that was typed.
#[derive(Debug)]
pub(super) enum Typed {
    Line(String),
    /// Ctrl-C while a line was edited; elsewhere it is a signal.
    Interrupt,
    /// Ctrl-D, or the end of the input.
    End,
}

/// What was typed, and how: a line that came while one watched says nothing of the one that is to be edited.
struct Heard {
    typed: Typed,
    edited: bool,
}

/// How to read.
enum Mode {
    /// A line with an editor, after this prompt.
    Edit(&'static str),
    /// Lines as they come, without a prompt.
    Watch,
}

/// Standard input.
pub(super) struct Keyboard {
    typed: mpsc::Receiver<Heard>,
    modes: std::sync::mpsc::SyncSender<Mode>,
    /// Written to when the mode changes, so that whoever watches looks up.
    wake: Option<OwnedFd>,
    /// A line is being edited.
    editing: bool,
    /// The terminal as it was, if it is one.
    before: Option<Termios>,
}

impl Drop for Keyboard {
    /// Leaves the terminal as it was, also in the middle of a line.
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, before);
            if self.editing {
                // Whatever is pasted later is nobody's business but the shell's.
                let _ = io::stdout().write_all(b"\x1b[?2004l");
            }
        }
    }
}

impl Keyboard {
    /// Takes standard input; with a terminal also how to print while a line is typed.
    pub(super) fn open() -> Result<(Self, Option<Printer>), Failure> {
        let (sender, typed) = mpsc::channel(LINES_MAX);
        let (modes, asked) = std::sync::mpsc::sync_channel(LINES_MAX);
        let terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        if !terminal {
            thread::spawn(move || pipe(&sender));
            return Ok((Self { typed, modes, wake: None, editing: false, before: None }, None));
        }
        let failed =
            |error: ReadlineError| Failure::Local(anyhow::anyhow!("could not use the terminal: {error}"));
        let config = Config::builder().auto_add_history(true).max_history_size(HISTORY_MAX);
        let config = config.map_err(failed)?.bracketed_paste(true).build();
        let mut editor = DefaultEditor::with_config(config).map_err(failed)?;
        let printer = editor.create_external_printer().map_err(failed)?;
        let (woken, wake) = rustix::pipe::pipe().map_err(|error| local("make a pipe", error.into()))?;
        let before =
            termios::tcgetattr(io::stdin()).map_err(|error| local("look at the terminal", error.into()))?;
        thread::spawn(move || type_lines(&mut editor, &asked, &woken, &sender));
        let keyboard = Self { typed, modes, wake: Some(wake), editing: false, before: Some(before) };
        Ok((keyboard, Some(Printer::new(printer))))
    }

    /// Whether somebody sits there.
    pub(super) fn is_terminal(&self) -> bool {
        self.before.is_some()
    }

    /// Whether a line is being edited.
    pub(super) fn is_editing(&self) -> bool {
        self.editing
    }

    /// Lets a line be edited after `prompt`, unless one is.
    pub(super) fn edit(&mut self, prompt: &'static str) {
        if !self.editing {
            self.editing = self.set(Mode::Edit(prompt));
        }
    }

    /// Lets lines be typed while the agent speaks, unless one is being edited.
    pub(super) fn watch(&mut self) {
        if !self.editing {
            self.set(Mode::Watch);
        }
    }

    /// The next thing that is typed. Cancel safe.
    pub(super) async fn next(&mut self) -> Typed {
        let heard = self.typed.recv().await.unwrap_or(Heard { typed: Typed::End, edited: true });
        self.editing &= !heard.edited;
        heard.typed
    }

    fn set(&self, mode: Mode) -> bool {
        let Some(wake) = &self.wake else { return false };
        // A full queue means that many changes were made which nobody has seen; the last one is not lost by much.
        let sent = self.modes.try_send(mode).is_ok();
        let _ = rustix::io::write(wake, b".");
        sent
    }
}

/// One prompt a line, for programs.
fn pipe(sender: &mpsc::Sender<Heard>) {
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if sender.blocking_send(Heard { typed: Typed::Line(line), edited: true }).is_err() {
            return;
        }
    }
    let _ = sender.blocking_send(Heard { typed: Typed::End, edited: true });
}

fn type_lines(
    editor: &mut DefaultEditor,
    asked: &std::sync::mpsc::Receiver<Mode>,
    woken: &OwnedFd,
    sender: &mpsc::Sender<Heard>,
) {
    let Ok(mut mode) = asked.recv() else { return };
    loop {
        // Only the last one counts.
        while let Ok(newer) = asked.try_recv() {
            mode = newer;
        }
        match mode {
            Mode::Edit(prompt) => {
                let typed = match editor.readline(prompt) {
                    Ok(line) => Typed::Line(line),
                    Err(ReadlineError::Interrupted) => Typed::Interrupt,
                    Err(_) => Typed::End,
                };
                if sender.blocking_send(Heard { typed, edited: true }).is_err() {
                    return;
                }
                match asked.recv() {
                    Ok(next) => mode = next,
                    Err(_) => return,
                }
            }
            Mode::Watch => {
                let Some(typed) = watch(woken) else { return };
                if let Some(typed) = typed
                    && sender.blocking_send(Heard { typed, edited: false }).is_err()
                {
                    return;
                }
            }
        }
    }
}

/// Waits for a line or for another mode; nothing if it can do neither.
fn watch(woken: &OwnedFd) -> Option<Option<Typed>> {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
    match poll(&mut fds, None) {
        Err(rustix::io::Errno::INTR) => return Some(None),
        Err(_) => return None,
        Ok(_) => {}
    }
    let (typed, changed) = (fds[0].revents(), fds[1].revents());
    if !changed.is_empty() {
        let mut drained = [0; LINES_MAX];
        rustix::io::read(woken, &mut drained).ok().filter(|read| *read > 0)?;
        return Some(None);
    }
    if typed.is_empty() {
        return Some(None);
    }
    let mut line = vec![0; LINE_BYTES_MAX];
    let read = rustix::io::read(&stdin, &mut line[..]).ok()?;
    match read {
        0 => Some(Some(Typed::End)),
        _ => {
            let text = String::from_utf8_lossy(&line[..read]);
            Some(Some(Typed::Line(text.trim_end_matches(['\n', '\r']).to_owned())))
        }
    }
}
