//! Which programs a command runs, without any word of the command.

use serde_json::{Map, Value};

use super::{known_programs, shell_line};

/// How many programs an entry names. Readers of the log do not need a longer list.
const PROGRAMS_NAMED_MAX: usize = 8;

/// Shown for a line whose programs are not certain.
const UNKNOWN_COMMAND: &str = "a shell command";

/// The programs of one `shell.start` request. Names come from a fixed list, so this cannot hold a part of the request.
#[derive(Debug, Default)]
pub(super) struct CommandSummary {
    /// Each program once, in order of first use.
    programs: Vec<&'static str>,
    command_count: usize,
    /// How many commands run a program that is not named.
    unnamed_count: usize,
}

impl CommandSummary {
    /// Describes a line for the shell; `None` unless all its programs are certain.
    pub(super) fn from_line(line: &str) -> Option<Self> {
        let mut summary = Self::default();
        for word in shell_line::program_words(line)? {
            match word {
                Some(word) => summary.add_program(word),
                None => summary.command_count += 1,
            }
        }
        Some(summary)
    }

    /// Describes a program that is started without a shell.
    pub(super) fn from_program(word: &str) -> Self {
        let mut summary = Self::default();
        summary.add_program(word);
        summary
    }

    fn add_program(&mut self, word: &str) {
        self.command_count += 1;
        match known_programs::find(word) {
            Some(name) if self.programs.contains(&name) => {}
            Some(name) if self.programs.len() < PROGRAMS_NAMED_MAX => self.programs.push(name),
            _ => self.unnamed_count += 1,
        }
    }

    /// Adds the fields of an audit entry.
    pub(super) fn write_to(self, summary: &mut Map<String, Value>) {
        summary.insert("command_count".into(), self.command_count.into());
        summary.insert("programs".into(), self.programs.into());
        if self.unnamed_count > 0 {
            summary.insert("unnamed_count".into(), self.unnamed_count.into());
        }
    }
}

/// Describes the command of an audit entry in a few words, such as `3 commands: ls, id, 1 other program`. Returns `None` if
/// the entry is about no command.
pub(super) fn describe(summary: &Map<String, Value>) -> Option<String> {
    let count = |name: &str| summary.get(name).and_then(Value::as_u64);
    let Some(commands) = count("command_count") else {
        // Entries of earlier versions have one program.
        let program = summary.get("program").and_then(Value::as_str).map(str::to_owned);
        return program.or_else(|| summary.contains_key("line_bytes").then(|| UNKNOWN_COMMAND.to_owned()));
    };
    let programs = summary.get("programs").and_then(Value::as_array).into_iter().flatten();
    let mut parts: Vec<String> = programs.filter_map(Value::as_str).map(str::to_owned).collect();
    let unnamed = count("unnamed_count").unwrap_or_default();
    if commands == 1 {
        let nameless = if unnamed > 0 { "a program" } else { UNKNOWN_COMMAND };
        return Some(parts.pop().unwrap_or_else(|| nameless.to_owned()));
    }
    if parts.is_empty() {
        return Some(format!("{commands} commands"));
    }
    match unnamed {
        0 => {}
        1 => parts.push("1 other program".into()),
        unnamed => parts.push(format!("{unnamed} other programs")),
    }
    Some(format!("{commands} commands: {}", parts.join(", ")))
}
