//! Shows the conversation as plain lines, with colours if the terminal has them.
//!
//! With a terminal everything goes to standard output. Without one, standard output carries only the agent's answers, so that
//! a script can use them; prompts, tool calls and hints go to standard error.

use std::io::{self, IsTerminal, Write};

use super::background_printer::BackgroundPrinter;
use crate::{environment, exit::CommandResult};

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextStyle {
    Plain,
    Dim,
    Bold,
    Red,
    Green,
    Yellow,
    Cyan,
}

impl TextStyle {
    fn code(self) -> &'static str {
        match self {
            TextStyle::Plain => "",
            TextStyle::Dim => "\x1b[2m",
            TextStyle::Bold => "\x1b[1m",
            TextStyle::Red => "\x1b[31m",
            TextStyle::Green => "\x1b[32m",
            TextStyle::Yellow => "\x1b[33m",
            TextStyle::Cyan => "\x1b[36m",
        }
    }
}

/// Where the agent's answer goes if it has a stream of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerOutput {
    Stdout,
    /// The caller prints the answer in another form.
    Discard,
}

/// The output of a conversation. It tracks whether the cursor is at the beginning of a line.
///
/// While the user types, the line editor owns the terminal. Output then goes through the editor's external printer, which
/// redraws the typed line below it. It can print whole lines only, so the last unfinished line is kept in `unprinted`.
pub(super) struct ChatScreen {
    has_colours: bool,
    /// Both streams are one terminal. Otherwise standard output has the answers only.
    is_terminal: bool,
    /// A user reads, so that a long request is shown in parts.
    has_reader: bool,
    answers: AnswerOutput,
    /// The last line of standard output is not finished.
    stdout_mid_line: bool,
    /// The last line of standard error is not finished. Unused on a terminal, where both streams share one screen.
    stderr_mid_line: bool,
    /// The user is typing a line.
    typing: bool,
    /// Something was printed above the typed line. The printer may not have got to it before the line was entered; it prints
    /// the rest with the next `readline`, so one more line has to be read before the editor is left.
    printed_above: bool,
    unprinted: String,
    printer: Option<BackgroundPrinter>,
}

impl ChatScreen {
    /// The screen of a conversation, on a terminal or for a program.
    pub(super) fn new(is_terminal: bool) -> Self {
        let has_colours = is_terminal && io::stdout().is_terminal() && accepts_colours();
        Self::with(has_colours, is_terminal, is_terminal, AnswerOutput::Stdout)
    }

    /// The screen of a command with one answer. Everything else goes to standard error, where a user may read it.
    pub(super) fn for_one_answer(has_reader: bool, answers: AnswerOutput) -> Self {
        Self::with(has_reader && accepts_colours(), false, has_reader, answers)
    }

    /// The screen of a command that only shows a conversation, all of it on standard output.
    pub(super) fn for_watching() -> Self {
        Self::with(io::stdout().is_terminal() && accepts_colours(), true, true, AnswerOutput::Stdout)
    }

    fn with(has_colours: bool, is_terminal: bool, has_reader: bool, answers: AnswerOutput) -> Self {
        Self {
            has_colours,
            is_terminal,
            has_reader,
            answers,
            stdout_mid_line: false,
            stderr_mid_line: false,
            typing: false,
            printed_above: false,
            unprinted: String::new(),
            printer: None,
        }
    }

    /// Whether a user reads, as opposed to a program.
    pub(super) fn has_reader(&self) -> bool {
        self.has_reader
    }

    /// Sets the printer to use while the user types.
    pub(super) fn set_printer(&mut self, printer: Option<BackgroundPrinter>) {
        self.printer = printer;
    }

    /// The line editor owns the terminal from now on.
    pub(super) fn begin_typing(&mut self) -> CommandResult {
        self.start_line()?;
        self.typing = true;
        Ok(())
    }

    /// The user entered a line, which ended with a line break. Stays in typing mode if something was printed above the line, see
    /// `printed_above`.
    pub(super) fn end_typing(&mut self) -> CommandResult {
        self.stdout_mid_line &= !self.typing;
        if std::mem::take(&mut self.printed_above) {
            return Ok(());
        }
        self.stop_typing()
    }

    /// The line editor no longer owns the terminal: prints what it did not get to.
    pub(super) fn stop_typing(&mut self) -> CommandResult {
        self.typing = false;
        let unprinted = std::mem::take(&mut self.unprinted);
        self.write(&unprinted)
    }

    /// Whether the line editor owns the terminal, or has to be entered once more.
    pub(super) fn is_typing(&self) -> bool {
        self.typing
    }

    /// The user pressed Enter, which the terminal echoed as a line break.
    pub(super) fn line_entered(&mut self) {
        self.stdout_mid_line &= !self.is_terminal;
        self.stderr_mid_line &= !self.has_reader;
    }

    /// Prints a prompt without the line editor. The user's line follows it.
    pub(super) fn prompt(&mut self, prompt: &str) -> CommandResult {
        self.start_line()?;
        self.write_aside(prompt)
    }

    /// The terminal echoed a key, such as `^C`, so the cursor is no longer at the beginning of a line.
    pub(super) fn key_echoed(&mut self) {
        self.stdout_mid_line |= self.is_terminal;
        self.stderr_mid_line |= self.has_reader && !self.is_terminal;
    }

    /// Prints a piece of the agent's answer.
    pub(super) fn print_answer(&mut self, text: &str) -> CommandResult {
        match self.answers {
            AnswerOutput::Stdout => self.write(&escape_controls(text)),
            AnswerOutput::Discard => Ok(()),
        }
    }

    /// Prints a piece of text that is not part of the answer, such as reasoning.
    pub(super) fn print_aside(&mut self, style: TextStyle, text: &str) -> CommandResult {
        let text = self.coloured(style, &escape_controls(text));
        self.write_aside(&text)
    }

    /// Prints a line that is not part of the answer.
    pub(super) fn line(&mut self, style: TextStyle, line: &str) -> CommandResult {
        self.spans(&[(style, line)])
    }

    /// Prints a line of several styles that is not part of the answer.
    pub(super) fn spans(&mut self, spans: &[(TextStyle, &str)]) -> CommandResult {
        self.start_line()?;
        let line: String =
            spans.iter().map(|(style, text)| self.coloured(*style, &escape_controls(text))).collect();
        self.write_aside(&format!("{line}\n"))
    }

    /// Moves to the beginning of a line.
    pub(super) fn start_line(&mut self) -> CommandResult {
        if std::mem::take(&mut self.stderr_mid_line) {
            self.write_aside("\n")?;
        }
        if self.stdout_mid_line { self.write("\n") } else { Ok(()) }
    }

    fn coloured(&self, style: TextStyle, text: &str) -> String {
        if self.has_colours && style != TextStyle::Plain && !text.is_empty() {
            format!("{}{text}\x1b[0m", style.code())
        } else {
            text.to_owned()
        }
    }

    fn write_aside(&mut self, text: &str) -> CommandResult {
        if self.is_terminal {
            return self.write(text);
        }
        self.stderr_mid_line = !text.is_empty() && !text.ends_with('\n');
        // If standard error is closed, there is nowhere to report that.
        let _ = io::stderr().lock().write_all(text.as_bytes());
        Ok(())
    }

    fn write(&mut self, text: &str) -> CommandResult {
        if text.is_empty() {
            return Ok(());
        }
        self.stdout_mid_line = !text.ends_with('\n');
        let Some(printer) = self.printer.as_ref().filter(|_| self.typing) else {
            let mut stdout = io::stdout().lock();
            stdout.write_all(text.as_bytes())?;
            return Ok(stdout.flush()?);
        };
        self.unprinted.push_str(text);
        if let Some(end) = self.unprinted.rfind('\n') {
            let unfinished = self.unprinted.split_off(end + 1);
            let lines = std::mem::replace(&mut self.unprinted, unfinished);
            self.printed_above = true;
            if let Err(lines) = printer.print(lines) {
                self.unprinted.insert_str(0, &lines);
            }
        }
        Ok(())
    }
}

/// Whether the user's terminal shows colours, and the user wants them.
fn accepts_colours() -> bool {
    let non_empty = |name: &str| environment::variable(name).filter(|value| !value.is_empty());
    non_empty("NO_COLOR").is_none() && non_empty("TERM").is_some_and(|term| term != "dumb")
}

/// Escapes control characters, so that text from an agent cannot control the terminal.
pub(crate) fn escape_controls(text: &str) -> String {
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
    fn text_from_an_agent_cannot_control_the_terminal() {
        assert_eq!(escape_controls("a\x1b[2Jb\r\n\tc\u{9b}"), "a\\u{1b}[2Jb\n\tc\\u{9b}");
    }
}
