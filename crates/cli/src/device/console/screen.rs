//! What is shown: lines, and below them on a terminal how the device is.

use std::io::{self, Write};

use rustix::termios;

/// How wide a terminal is that does not say it.
const COLUMNS: usize = 80;

/// What takes away all that stands on a line.
const CLEAR: &str = "\r\x1b[K";

/// Standard error. It knows what stands on its last line.
pub(super) struct Screen {
    terminal: bool,
    last: Last,
}

/// What stands on the last line.
enum Last {
    Nothing,
    State,
    Question,
}

impl Screen {
    pub(super) fn new(terminal: bool) -> Self {
        Self { terminal, last: Last::Nothing }
    }

    /// Shows a line, above what stands on the last one.
    pub(super) fn line(&mut self, line: &str) {
        let clear = self.clear();
        write(&format!("{clear}{line}\n"));
    }

    /// Shows how the device is, on the last line.
    pub(super) fn state(&mut self, state: &str) {
        if !self.terminal {
            return;
        }
        // A line that is broken could not be cleared; what is typed has its place after it.
        let state: String = state.chars().take(self.columns().saturating_sub(2)).collect();
        let clear = self.clear();
        write(&format!("{clear}{state}"));
        self.last = Last::State;
    }

    /// Asks for an answer, on the last line, where nothing else is left.
    pub(super) fn ask(&mut self, prompt: &str) {
        self.clear();
        write(&format!("{CLEAR}{prompt}"));
        self.last = Last::Question;
    }

    /// How wide it is.
    pub(super) fn columns(&self) -> usize {
        let columns = termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
        if columns == 0 { COLUMNS } else { columns }
    }

    /// Whoever types has ended the line.
    pub(super) fn returned(&mut self) {
        if matches!(self.last, Last::Question) {
            self.last = Last::Nothing;
        }
    }

    /// Leaves the terminal at the beginning of a line.
    pub(super) fn end(&mut self) {
        let clear = self.clear();
        write(&clear);
    }

    /// What makes room on the last line.
    fn clear(&mut self) -> String {
        match std::mem::replace(&mut self.last, Last::Nothing) {
            Last::Nothing => String::new(),
            Last::State => CLEAR.into(),
            Last::Question => "\n".into(),
        }
    }
}

fn write(text: &str) {
    // There is nobody left to tell if it cannot be written.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
