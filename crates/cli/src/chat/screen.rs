//! Where the conversation is shown: plain lines, with colours where there are any.
//!
//! Without a terminal, standard output is what the agent says and nothing else; the rest is talk.

use std::io::{self, IsTerminal, Write};

use super::printer::Printer;
use crate::{environment, exit::Outcome};

/// How something looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    Dim,
    Bold,
    Red,
    Green,
    Yellow,
    Cyan,
}

impl Look {
    fn code(self) -> &'static str {
        match self {
            Look::Plain => "",
            Look::Dim => "\x1b[2m",
            Look::Bold => "\x1b[1m",
            Look::Red => "\x1b[31m",
            Look::Green => "\x1b[32m",
            Look::Yellow => "\x1b[33m",
            Look::Cyan => "\x1b[36m",
        }
    }
}

/// The screen. It knows whether it stands at the beginning of a line.
pub(super) struct Screen {
    colours: bool,
    /// Somebody sits there.
    terminal: bool,
    /// Something stands on the last line of standard output, …
    open: bool,
    /// … and of standard error, if that is another.
    talking: bool,
    /// A line is being typed: what is shown goes above it, a whole line at a time.
    typing: bool,
    /// Something was shown above it. What the editor did not get round to is shown with the next line that is typed.
    above: bool,
    pending: String,
    printer: Option<Printer>,
}

impl Screen {
    pub(super) fn new(terminal: bool) -> Self {
        let named = |name: &str| environment::variable(name).filter(|value| !value.is_empty());
        let dumb = named("TERM").is_none_or(|term| term == "dumb");
        let colours = terminal && io::stdout().is_terminal() && named("NO_COLOR").is_none() && !dumb;
        let (open, talking, typing, above) = (false, false, false, false);
        Self { colours, terminal, open, talking, typing, above, pending: String::new(), printer: None }
    }

    /// Where to print while a line is being typed.
    pub(super) fn set_printer(&mut self, printer: Option<Printer>) {
        self.printer = printer;
    }

    /// A line is being typed from now on.
    pub(super) fn begin_typing(&mut self) -> Outcome {
        self.fresh()?;
        self.typing = true;
        Ok(())
    }

    /// The line that was typed has ended, with a line break. If something was shown above it, another one has to be typed.
    pub(super) fn end_typing(&mut self) -> Outcome {
        self.open &= !self.typing;
        if std::mem::take(&mut self.above) {
            return Ok(());
        }
        self.stop_typing()
    }

    /// Nothing more is typed.
    pub(super) fn stop_typing(&mut self) -> Outcome {
        self.typing = false;
        let rest = std::mem::take(&mut self.pending);
        self.write(&rest)
    }

    /// Whether a line is typed, or has to be.
    pub(super) fn is_typing(&self) -> bool {
        self.typing
    }

    /// Whoever types has ended a line, so that the next thing stands at the beginning of one.
    pub(super) fn returned(&mut self) {
        self.open &= !self.terminal;
    }

    /// The terminal has shown that a key was pressed.
    pub(super) fn echoed(&mut self) {
        self.open |= self.terminal;
    }

    /// What the agent says, as it comes; its control characters do nothing.
    pub(super) fn text(&mut self, text: &str) -> Outcome {
        self.write(&safe(text))
    }

    /// What goes with it, as it comes.
    pub(super) fn aside(&mut self, look: Look, text: &str) -> Outcome {
        let text = self.coloured(look, &safe(text));
        self.talk(&text)
    }

    /// A line of its own.
    pub(super) fn line(&mut self, look: Look, line: &str) -> Outcome {
        self.spans(&[(look, line)])
    }

    /// A line of several looks.
    pub(super) fn spans(&mut self, spans: &[(Look, &str)]) -> Outcome {
        self.fresh()?;
        let line: String = spans.iter().map(|(look, text)| self.coloured(*look, &safe(text))).collect();
        self.talk(&format!("{line}\n"))
    }

    /// Goes to the beginning of a line.
    pub(super) fn fresh(&mut self) -> Outcome {
        if std::mem::take(&mut self.talking) {
            self.talk("\n")?;
        }
        if self.open { self.write("\n") } else { Ok(()) }
    }

    fn coloured(&self, look: Look, text: &str) -> String {
        match self.colours && look != Look::Plain && !text.is_empty() {
            true => format!("{}{text}\x1b[0m", look.code()),
            false => text.to_owned(),
        }
    }

    fn talk(&mut self, text: &str) -> Outcome {
        if self.terminal {
            return self.write(text);
        }
        self.talking = !text.is_empty() && !text.ends_with('\n');
        // There is nobody left to tell if it cannot be written.
        let _ = io::stderr().lock().write_all(text.as_bytes());
        Ok(())
    }

    fn write(&mut self, text: &str) -> Outcome {
        if text.is_empty() {
            return Ok(());
        }
        self.open = !text.ends_with('\n');
        let Some(printer) = self.printer.as_ref().filter(|_| self.typing) else {
            let mut stdout = io::stdout().lock();
            stdout.write_all(text.as_bytes())?;
            return Ok(stdout.flush()?);
        };
        self.pending.push_str(text);
        if let Some(end) = self.pending.rfind('\n') {
            let rest = self.pending.split_off(end + 1);
            let lines = std::mem::replace(&mut self.pending, rest);
            self.above = true;
            if let Err(lines) = printer.print(lines) {
                self.pending.insert_str(0, &lines);
            }
        }
        Ok(())
    }
}

/// A text of somebody else that cannot command the terminal.
pub(super) fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => out.push(character),
            '\r' => {}
            control if control.is_control() => out.extend(control.escape_default()),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_cannot_command_the_terminal() {
        assert_eq!(safe("a\x1b[2Jb\r\n\tc\u{9b}"), "a\\u{1b}[2Jb\n\tc\\u{9b}");
    }
}
