//! Reads what the user types: with a line editor at a prompt, and as plain lines while the agent is writing.
//!
//! While the agent is writing there is no editor on the screen, so its output can go straight to the terminal; the kernel's
//! line discipline collects what is typed meanwhile. One thread owns standard input, because both ways of reading block.

use std::{
    io::{self, BufRead, IsTerminal, Write},
    os::fd::OwnedFd,
    thread,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    termios::{self, OptionalActions, Termios},
};
use rustyline::{ColorMode, Config, Editor, error::ReadlineError, history::DefaultHistory};
use tokio::sync::mpsc;

use super::{background_printer::BackgroundPrinter, closable_prompt::ClosablePrompt};
use crate::exit::{CommandError, local};

/// How many typed lines, and mode changes, may wait.
const LINES_MAX: usize = 64;

/// Buffer for a plain line. The kernel's line discipline delivers at most 4096 bytes per line, so this is ample.
const LINE_BYTES_MAX: usize = 64 << 10;

/// How many lines the arrow keys can recall.
const HISTORY_MAX: usize = 500;

type ChatEditor = Editor<ClosablePrompt, DefaultHistory>;

/// Input from the user.
#[derive(Debug)]
pub(super) enum UserInput {
    Line(String),
    /// Ctrl-C in the line editor, which disables the signal. Elsewhere Ctrl-C arrives as SIGINT.
    Interrupt,
    /// Ctrl-D, or the end of the input.
    End,
}

/// Input together with the mode that read it. A plain line may arrive after the editor was requested; it must not count as
/// the end of that edit.
struct InputEvent {
    input: UserInput,
    from_editor: bool,
}

/// How to read.
enum InputMode {
    /// One line with the editor, after this prompt.
    Edit(&'static str),
    /// Plain lines without a prompt.
    PlainLines,
}

/// Standard input: a terminal, or one prompt per line.
pub(super) struct ChatInput {
    events: mpsc::Receiver<InputEvent>,
    modes: std::sync::mpsc::SyncSender<InputMode>,
    /// Write end of a pipe that wakes the thread of the editor from `poll` when the mode changes.
    wake: Option<OwnedFd>,
    /// The editor has been started and has not returned a line.
    editing: bool,
    prompt: ClosablePrompt,
    /// A user types, as opposed to a program that writes.
    is_terminal: bool,
    /// The terminal settings at the start; `None` if there is no line editor to change them.
    saved_termios: Option<Termios>,
}

impl Drop for ChatInput {
    /// Restores the terminal. The thread may still be inside the editor, with the terminal in raw mode.
    fn drop(&mut self) {
        if let Some(saved) = &self.saved_termios {
            let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, saved);
            if self.editing {
                // Turn off bracketed paste, which the editor has turned on. The shell would show its markers otherwise.
                let _ = io::stdout().write_all(b"\x1b[?2004l");
            }
        }
    }
}

impl ChatInput {
    /// Opens standard input. On a terminal also returns a printer to use while the user types.
    pub(super) fn open() -> Result<(Self, Option<BackgroundPrinter>), CommandError> {
        let (sender, events) = mpsc::channel(LINES_MAX);
        let (modes, requested_modes) = std::sync::mpsc::sync_channel(LINES_MAX);
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let prompt = ClosablePrompt::default();
        if !is_terminal {
            thread::spawn(move || read_pipe(&sender));
            return Ok((Self::without_editor(events, is_terminal), None));
        }
        let failed = |error: ReadlineError| {
            CommandError::Local(anyhow::anyhow!("could not use the terminal: {error}"))
        };
        let config = Config::builder().auto_add_history(true).max_history_size(HISTORY_MAX);
        // Forced, because the editor would not ask the helper otherwise. The helper adds no colours.
        let config = config.map_err(failed)?.bracketed_paste(true).color_mode(ColorMode::Forced).build();
        let mut editor = ChatEditor::with_config(config).map_err(failed)?;
        editor.set_helper(Some(prompt.clone()));
        let printer = editor.create_external_printer().map_err(failed)?;
        let (woken, wake) = rustix::pipe::pipe().map_err(|error| local("create a pipe", error.into()))?;
        let saved_termios = termios::tcgetattr(io::stdin())
            .map_err(|error| local("read the terminal settings", error.into()))?;
        thread::spawn(move || read_terminal(&mut editor, &requested_modes, &woken, &sender));
        let input = Self {
            events,
            modes,
            wake: Some(wake),
            editing: false,
            prompt,
            is_terminal,
            saved_termios: Some(saved_termios),
        };
        Ok((input, Some(BackgroundPrinter::new(printer))))
    }

    /// Reads lines from standard input, which is a terminal, without the editor. Standard output may be another stream. Nothing is
    /// read before the first prompt, because the kernel stops a background process that reads from its terminal.
    pub(super) fn open_lines() -> Self {
        let (sender, events) = mpsc::channel(LINES_MAX);
        let (modes, prompts) = std::sync::mpsc::sync_channel(LINES_MAX);
        thread::spawn(move || read_prompted_lines(&prompts, &sender));
        let mut input = Self::without_editor(events, true);
        input.modes = modes;
        input
    }

    /// An input that has ended.
    pub(super) fn closed() -> Self {
        let (_, events) = mpsc::channel(1);
        Self::without_editor(events, false)
    }

    fn without_editor(events: mpsc::Receiver<InputEvent>, is_terminal: bool) -> Self {
        // Without an editor, no thread takes a mode.
        let (modes, _) = std::sync::mpsc::sync_channel(LINES_MAX);
        let prompt = ClosablePrompt::default();
        Self { events, modes, wake: None, editing: false, prompt, is_terminal, saved_termios: None }
    }

    /// Whether a user types.
    pub(super) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Forgets what was typed and not read yet, also the beginning of a line.
    pub(super) fn discard_typed(&self) {
        // Fails only if the terminal is gone, and then nothing is typed.
        let _ = termios::tcflush(io::stdin(), termios::QueueSelector::IFlush);
    }

    pub(super) fn is_editing(&self) -> bool {
        self.editing
    }

    /// Starts the line editor with a prompt, unless it is already running.
    pub(super) fn edit(&mut self, prompt: &'static str) {
        if !self.editing {
            self.prompt.reopen();
            self.editing = self.set_mode(InputMode::Edit(prompt));
        }
    }

    /// Replaces the prompt of the line editor, because its question is no longer open.
    pub(super) fn close_prompt(&self) {
        self.prompt.close();
    }

    /// Reads plain lines from now on, unless the line editor is running.
    pub(super) fn read_plain_lines(&mut self) {
        if !self.editing {
            self.set_mode(InputMode::PlainLines);
        }
    }

    /// The next input. Cancel safe.
    pub(super) async fn next(&mut self) -> UserInput {
        let end = InputEvent { input: UserInput::End, from_editor: true };
        let event = self.events.recv().await.unwrap_or(end);
        self.editing &= !event.from_editor;
        event.input
    }

    fn set_mode(&self, mode: InputMode) -> bool {
        // The queue is full only if the thread has been stuck for many mode changes. Dropping one is harmless: the chat loop
        // sets the mode again on its next round.
        let sent = self.modes.try_send(mode).is_ok();
        if let Some(wake) = &self.wake {
            let _ = rustix::io::write(wake, b".");
        }
        sent
    }
}

/// Reads one prompt per line, for scripts.
fn read_pipe(sender: &mpsc::Sender<InputEvent>) {
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if sender.blocking_send(InputEvent { input: UserInput::Line(line), from_editor: true }).is_err() {
            return;
        }
    }
    let _ = sender.blocking_send(InputEvent { input: UserInput::End, from_editor: true });
}

/// Reads one line for each prompt.
fn read_prompted_lines(prompts: &std::sync::mpsc::Receiver<InputMode>, sender: &mpsc::Sender<InputEvent>) {
    while prompts.recv().is_ok() {
        let mut line = String::new();
        let input = match io::stdin().read_line(&mut line) {
            Ok(0) | Err(_) => UserInput::End,
            Ok(_) => UserInput::Line(line.trim_end_matches(['\n', '\r']).to_owned()),
        };
        if sender.blocking_send(InputEvent { input, from_editor: true }).is_err() {
            return;
        }
    }
}

fn read_terminal(
    editor: &mut ChatEditor,
    requested_modes: &std::sync::mpsc::Receiver<InputMode>,
    woken: &OwnedFd,
    sender: &mpsc::Sender<InputEvent>,
) {
    let Ok(mut mode) = requested_modes.recv() else { return };
    loop {
        // Only the newest mode counts.
        while let Ok(newer) = requested_modes.try_recv() {
            mode = newer;
        }
        match mode {
            InputMode::Edit(prompt) => {
                let input = match editor.readline(prompt) {
                    Ok(line) => UserInput::Line(line),
                    Err(ReadlineError::Interrupted) => UserInput::Interrupt,
                    Err(_) => UserInput::End,
                };
                if sender.blocking_send(InputEvent { input, from_editor: true }).is_err() {
                    return;
                }
                // Wait for the chat loop to decide what comes next, instead of showing the same prompt again.
                match requested_modes.recv() {
                    Ok(next) => mode = next,
                    Err(_) => return,
                }
            }
            InputMode::PlainLines => {
                let input = match wait_for_line(woken) {
                    LineWait::Input(input) => input,
                    LineWait::Interrupted => continue,
                    LineWait::Failed => return,
                };
                if sender.blocking_send(InputEvent { input, from_editor: false }).is_err() {
                    return;
                }
            }
        }
    }
}

/// How waiting for a plain line ended.
enum LineWait {
    Input(UserInput),
    /// The mode changed, or a signal arrived: look at the mode again.
    Interrupted,
    Failed,
}

/// Waits for a plain line, or for a wake-up because the mode has changed.
fn wait_for_line(woken: &OwnedFd) -> LineWait {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
    match poll(&mut fds, None) {
        Err(rustix::io::Errno::INTR) => return LineWait::Interrupted,
        Err(_) => return LineWait::Failed,
        Ok(_) => {}
    }
    let [stdin_events, wake_events] = [fds[0].revents(), fds[1].revents()];
    // The wake-up goes first. If the editor was requested, a line that is already in the kernel's buffer belongs to it.
    if !wake_events.is_empty() {
        let mut drained = [0; LINES_MAX];
        return match rustix::io::read(woken, &mut drained) {
            Ok(read) if read > 0 => LineWait::Interrupted,
            _ => LineWait::Failed,
        };
    }
    if stdin_events.is_empty() {
        return LineWait::Interrupted;
    }
    let mut line = vec![0; LINE_BYTES_MAX];
    match rustix::io::read(&stdin, &mut line[..]) {
        Ok(0) => LineWait::Input(UserInput::End),
        Ok(read) => {
            let text = String::from_utf8_lossy(&line[..read]);
            LineWait::Input(UserInput::Line(text.trim_end_matches(['\n', '\r']).to_owned()))
        }
        Err(_) => LineWait::Failed,
    }
}
