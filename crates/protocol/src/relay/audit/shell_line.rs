//! The programs that a shell line starts, found only where there is no doubt about them.
//!
//! This is not a shell parser. A parser must understand every construct, and it follows one shell, while `/bin/sh` is dash,
//! bash or busybox. Audit entries are permanent and readable by people who must not see a secret, so a wrong guess costs more
//! than no answer. The scanner therefore accepts the plain subset that all shells read alike (words, quotes in arguments,
//! separators, `2>&1`, `>/dev/null`) and gives up on everything else.

/// The longest line that is read. Longer ones are scripts, which seldom are in the plain subset.
const LINE_BYTES_MAX: usize = 16 << 10;

/// Words that are no program where a program is expected, and commands that change which program a later word starts.
#[rustfmt::skip]
const NOT_PROGRAMS: [&str; 22] = [
    "alias", "case", "coproc", "do", "done", "elif", "else", "enable", "esac", "fi", "for", "function", "hash", "if",
    "in", "select", "shopt", "then", "time", "unalias", "until", "while",
];

/// Variables that change which program a name starts, or where a word ends.
const LOOKUP_VARIABLES: [&str; 3] = ["PATH=", "LD_PRELOAD=", "IFS="];

/// The only file that output may be redirected to: any other name may be a secret, and moves the words after it.
const NULL_DEVICE: &str = "/dev/null";

/// Returns the first word of each command in `line`, in order, and `None` for a command that only assigns variables.
/// Returns nothing at all unless every program is certain.
pub(super) fn program_words(line: &str) -> Option<Vec<Option<&str>>> {
    if line.len() > LINE_BYTES_MAX {
        return None;
    }
    let mut scanner =
        Scanner { line, at: 0, words: Vec::new(), current: CurrentCommand::Empty, is_open: false };
    scanner.scan()?;
    Some(scanner.words).filter(|words| !words.is_empty())
}

struct Scanner<'a> {
    line: &'a str,
    at: usize,
    /// The program words of the complete commands.
    words: Vec<Option<&'a str>>,
    current: CurrentCommand<'a>,
    /// Whether `&&`, `||` or `|` still needs a command after it.
    is_open: bool,
}

/// The words of the current command that were read.
#[derive(Clone, Copy)]
enum CurrentCommand<'a> {
    Empty,
    Assignments,
    Program(&'a str),
}

impl<'a> Scanner<'a> {
    fn scan(&mut self) -> Option<()> {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    // Blank lines are allowed, also after an operator.
                    if !matches!(self.current, CurrentCommand::Empty) {
                        self.end_command()?;
                    }
                }
                b';' | b'&' | b'|' => self.read_separator()?,
                b'<' | b'>' => self.read_redirection()?,
                b'(' | b')' | b'#' => return None,
                _ => self.read_word()?,
            }
        }
        match self.current {
            CurrentCommand::Empty => (!self.is_open).then_some(()),
            _ => self.end_command(),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    fn takes(&mut self, text: &str) -> bool {
        let is_next = self.line.as_bytes()[self.at..].starts_with(text.as_bytes());
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    /// Fails for an empty command, which is a syntax error.
    fn end_command(&mut self) -> Option<()> {
        let word = match std::mem::replace(&mut self.current, CurrentCommand::Empty) {
            CurrentCommand::Empty => return None,
            CurrentCommand::Assignments => None,
            CurrentCommand::Program(word) => Some(word),
        };
        self.words.push(word);
        self.is_open = false;
        Some(())
    }

    fn read_separator(&mut self) -> Option<()> {
        self.end_command()?;
        self.is_open = self.takes("&&") || self.takes("||") || self.takes("|");
        if !self.is_open {
            self.at += 1;
        }
        // Other operators, such as `;;`, `|&` and `&>`, differ from shell to shell or belong to a larger construct.
        let is_other = matches!(self.peek(), Some(b';' | b'&' | b'|' | b'<' | b'>'));
        (!is_other).then_some(())
    }

    /// Accepts `2>&1` and the null device. Before a program a redirection would hide where the program is.
    fn read_redirection(&mut self) -> Option<()> {
        if !matches!(self.current, CurrentCommand::Program(_)) {
            return None;
        }
        if self.takes(">&") || self.takes("<&") {
            if !self.takes("-") {
                let digits =
                    self.line.as_bytes()[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                self.at += digits;
                (digits > 0).then_some(())?;
            }
        } else {
            let _ = self.takes(">>") || self.takes(">") || self.takes("<");
            while matches!(self.peek(), Some(b' ' | b'\t')) {
                self.at += 1;
            }
            self.takes(NULL_DEVICE).then_some(())?;
        }
        self.peek().is_none_or(ends_word).then_some(())
    }

    fn read_word(&mut self) -> Option<()> {
        let start = self.at;
        let mut is_literal = true;
        while let Some(byte) = self.peek().filter(|byte| !ends_word(*byte)) {
            self.at += 1;
            match byte {
                b'\'' => {
                    is_literal = false;
                    self.at += self.line[self.at..].find('\'')? + 1;
                }
                b'"' => {
                    is_literal = false;
                    self.read_double_quoted()?;
                }
                b'$' => {
                    is_literal = false;
                    self.read_variable()?;
                }
                b'\\' | b'`' => return None,
                0x21..=0x7e => {}
                // Shells disagree about which other characters separate words.
                _ => return None,
            }
        }
        let word = &self.line[start..self.at];
        let is_redirected = matches!(self.peek(), Some(b'<' | b'>'));
        self.add_word(word, is_literal, is_redirected)
    }

    /// Reads to the closing quote.
    fn read_double_quoted(&mut self) -> Option<()> {
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'"' => return Some(()),
                b'$' => self.read_variable()?,
                b'\\' | b'`' => return None,
                _ => {}
            }
        }
    }

    /// Accepts `$NAME`, `$1` and `$?`. What is in braces or parentheses may contain commands.
    fn read_variable(&mut self) -> Option<()> {
        let next = self.peek()?;
        (next.is_ascii_alphanumeric() || b"_?#@*!-$".contains(&next)).then(|| self.at += 1)
    }

    fn add_word(&mut self, word: &'a str, is_literal: bool, is_redirected: bool) -> Option<()> {
        if LOOKUP_VARIABLES.iter().any(|variable| word.contains(variable)) {
            return None;
        }
        if matches!(self.current, CurrentCommand::Program(_)) {
            return Some(());
        }
        // In `2>file`, the number belongs to the redirection.
        let is_number = is_redirected && word.bytes().all(|byte| byte.is_ascii_digit());
        if !is_literal || is_number {
            return None;
        }
        self.current = if is_assignment(word) {
            CurrentCommand::Assignments
        } else {
            (is_plain(word) && !NOT_PROGRAMS.contains(&word)).then_some(CurrentCommand::Program(word))?
        };
        Some(())
    }
}

fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_name_byte) && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
}

fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'+' | b'-'))
}

#[cfg(test)]
mod tests;
