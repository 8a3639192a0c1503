//! What is printed: tables for people, the wire body for programs. stdout is data, stderr is talk.

use std::io::{self, IsTerminal, Write};

use client::Answer;
use comfy_table::{ContentArrangement, Table, presets};
use serde::de::DeserializeOwned;
use serde_json::{json, value::RawValue};
use unicode_general_category::{GeneralCategory, get_general_category};

use crate::exit::Outcome;

/// Where the output of a command goes, and in which form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
}

impl Output {
    /// Prints an answer: as it came, or as `view` shows it.
    pub(crate) fn answer<T: DeserializeOwned>(
        self,
        answer: &Answer<T>,
        view: impl FnOnce(T) -> String,
    ) -> Outcome {
        if self.json {
            return self.bytes(answer.body());
        }
        self.line(&view(answer.read()?))
    }

    /// Prints an answer that says nothing but that it is done: `done` tells people.
    pub(crate) fn done(self, done: &str) -> Outcome {
        if !self.json {
            self.talk(done);
        }
        Ok(())
    }

    /// Prints bytes as they are; a terminal gets the line break that they lack.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Outcome {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes)?;
        if stdout.is_terminal() && !bytes.ends_with(b"\n") {
            stdout.write_all(b"\n")?;
        }
        Ok(stdout.flush()?)
    }

    /// Prints a line, at once.
    pub(crate) fn line(self, line: &str) -> Outcome {
        let mut stdout = io::stdout().lock();
        stdout.write_all(line.as_bytes())?;
        stdout.write_all(b"\n")?;
        Ok(stdout.flush()?)
    }

    /// Prints an event of a stream as one line for programs. The data stays as it came; what is no JSON becomes a text.
    pub(crate) fn event(self, name: &str, id: Option<u64>, data: &str) -> Outcome {
        self.line(&match serde_json::from_str::<&RawValue>(data) {
            Ok(data) => format!(r#"{{"event":{},"id":{},"data":{data}}}"#, json!(name), json!(id)),
            Err(_) => json!({ "event": name, "id": id, "data": data }).to_string(),
        })
    }

    /// Says something to whoever watches.
    pub(crate) fn talk(self, line: &str) {
        let _ = writeln!(io::stderr(), "{}", plain(line));
    }
}

/// A list: one row each, columns apart, nothing that would have to be cut off when it is copied.
pub(crate) fn table<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = bare();
    table.set_header(header);
    for row in rows {
        table.add_row(row.map(|cell| plain(&cell)));
    }
    apart(table)
}

/// One thing: its fields, one a line.
pub(crate) fn card<const N: usize>(fields: [(&str, String); N]) -> String {
    let mut table = bare();
    for (name, value) in fields {
        table.add_row([name.to_owned(), plain(&value)]);
    }
    apart(table)
}

fn bare() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
    table
}

fn apart(mut table: Table) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt()
}

/// What is there, or a dash.
pub(crate) fn or_dash<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "-".into(), |value| value.to_string())
}

/// A time to the second, or a dash.
pub(crate) fn time(value: Option<impl std::fmt::Display>) -> String {
    or_dash(value.map(|time| format!("{time:.0}")))
}

/// Yes or no.
pub(crate) fn yes_no(value: bool) -> String {
    if value { "yes".into() } else { "no".into() }
}

/// What the name of a character begins with.
const NAME: &str = "<U+";

/// A text of somebody else, in which every character can be seen. One that would command the terminal, turn the direction
/// of what follows or leave no trace is named instead, as in `<U+001B>`; so that nothing else looks like such a name, what
/// would begin like one is named too.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    loop {
        let is_name = rest.as_str().starts_with(NAME);
        let Some(character) = rest.next() else { return out };
        match is_name || !is_seen(character) {
            true => out.push_str(&format!("{NAME}{:04X}>", u32::from(character))),
            false => out.push(character),
        }
    }
}

fn is_seen(character: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator};
    !matches!(get_general_category(character), Control | Format | LineSeparator | ParagraphSeparator)
}

/// JSON of somebody else on one line; outside of its texts a control character can only be space.
pub(crate) fn plain_json(json: &[u8]) -> String {
    let text = String::from_utf8_lossy(json);
    let spaced: String =
        text.trim().chars().map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c }).collect();
    plain(&spaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_command_the_terminal() {
        assert_eq!(plain("a\x1b[2Jb\r\n\u{9b}é"), "a<U+001B>[2Jb<U+000D><U+000A><U+009B>é");
        let shown = table(["NAME", "SIZE"], [["\x1b]0;x\x07".into(), "1".into()]]);
        assert!(!shown.contains(['\x1b', '\x07']), "{shown:?}");
    }

    /// What cannot be seen, or has something else seen in its place, is named; and nothing else looks like such a name.
    #[test]
    fn what_is_not_seen_is_named() {
        for (hidden, name) in [
            ('\u{202e}', "<U+202E>"),
            ('\u{2066}', "<U+2066>"),
            ('\u{200b}', "<U+200B>"),
            ('\u{2028}', "<U+2028>"),
            ('\u{2029}', "<U+2029>"),
            ('\u{feff}', "<U+FEFF>"),
            ('\u{ad}', "<U+00AD>"),
            ('\u{e0041}', "<U+E0041>"),
        ] {
            assert_eq!(plain(&format!("a{hidden}b")), format!("a{name}b"));
        }
        for seen in ["C:\\new\\table", "e\u{301}", "漢字", "a < U+1", "👍"] {
            assert_eq!(plain(seen), seen);
        }
        assert_eq!(plain("<U+202E>"), "<U+003C>U+202E>");
    }

    #[test]
    fn columns_stand_apart_and_lines_end_clean() {
        let shown = table(["A", "LONGER"], [["value".into(), "x".into()], ["v".into(), "-".into()]]);
        assert_eq!(shown, "A      LONGER\nvalue  x\nv      -");
    }
}
