//! Output of the console on standard error: log lines, and below them on a terminal a status line or a prompt.

use std::io::{self, Write};

use rustix::termios;

/// Width of a terminal that does not report one.
const COLUMNS_DEFAULT: usize = 80;

/// Moves to the start of the line and erases it.
const CLEAR_LINE: &str = "\r\x1b[K";

/// Standard error. It tracks the content of the last line, which log lines have to replace.
pub(super) struct StatusScreen {
    is_terminal: bool,
    last_line: LastLine,
}

/// The content of the terminal's last line.
enum LastLine {
    Nothing,
    Status,
    Prompt,
}

impl StatusScreen {
    pub(super) fn new(is_terminal: bool) -> Self {
        Self { is_terminal, last_line: LastLine::Nothing }
    }

    /// Prints a log line in place of the status line, or below the prompt.
    pub(super) fn line(&mut self, line: &str) {
        let clear = self.clear();
        write(&format!("{clear}{line}\n"));
    }

    /// Shows the status on the last line.
    pub(super) fn show_status(&mut self, status: &str) {
        if !self.is_terminal {
            return;
        }
        // A wrapped line could not be erased again. Two columns stay free for what the user types behind it.
        let status: String = status.chars().take(self.columns().saturating_sub(2)).collect();
        let clear = self.clear();
        write(&format!("{clear}{status}"));
        self.last_line = LastLine::Status;
    }

    /// Shows a prompt on the last line, erasing whatever the terminal has echoed there.
    pub(super) fn show_prompt(&mut self, prompt: &str) {
        self.clear();
        write(&format!("{CLEAR_LINE}{prompt}"));
        self.last_line = LastLine::Prompt;
    }

    pub(super) fn columns(&self) -> usize {
        let columns = termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
        if columns == 0 { COLUMNS_DEFAULT } else { columns }
    }

    /// The user pressed Enter, which the terminal echoed as a line break after the prompt.
    pub(super) fn line_entered(&mut self) {
        if matches!(self.last_line, LastLine::Prompt) {
            self.last_line = LastLine::Nothing;
        }
    }

    /// Leaves the terminal at the beginning of a line.
    pub(super) fn end(&mut self) {
        let clear = self.clear();
        write(&clear);
    }

    /// Returns the characters that make room on the last line.
    fn clear(&mut self) -> String {
        match std::mem::replace(&mut self.last_line, LastLine::Nothing) {
            LastLine::Nothing => String::new(),
            LastLine::Status => CLEAR_LINE.into(),
            LastLine::Prompt => "\n".into(),
        }
    }
}

fn write(text: &str) {
    // If standard error is closed, there is nowhere to report that.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
