//! The output of commands: tables for people, response bodies for programs. Results go to stdout, notes to stderr.

use std::io::{self, IsTerminal, Write};

use client::ApiResponse;
use comfy_table::{ContentArrangement, Table, presets};
use serde::de::DeserializeOwned;
use serde_json::{json, value::RawValue};
use unicode_general_category::{GeneralCategory, get_general_category};

use crate::exit::CommandResult;

/// The form of a command's output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandOutput {
    pub(crate) json: bool,
}

impl CommandOutput {
    /// Prints a response: unchanged with `--json`, else as `view` renders it.
    pub(crate) fn answer<T: DeserializeOwned>(
        self,
        answer: &ApiResponse<T>,
        view: impl FnOnce(T) -> String,
    ) -> CommandResult {
        if self.json {
            return self.bytes(answer.body());
        }
        self.line(&view(answer.read()?))
    }

    /// Confirms a request whose response has no body: prints `done` to stderr, and nothing with `--json`.
    pub(crate) fn done(self, done: &str) -> CommandResult {
        if !self.json {
            self.print_note(done);
        }
        Ok(())
    }

    /// Prints bytes unchanged; on a terminal, ends them with a newline.
    pub(crate) fn bytes(self, bytes: &[u8]) -> CommandResult {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes)?;
        if stdout.is_terminal() && !bytes.ends_with(b"\n") {
            stdout.write_all(b"\n")?;
        }
        Ok(stdout.flush()?)
    }

    /// Prints a line and flushes it.
    pub(crate) fn line(self, line: &str) -> CommandResult {
        let mut stdout = io::stdout().lock();
        stdout.write_all(line.as_bytes())?;
        stdout.write_all(b"\n")?;
        Ok(stdout.flush()?)
    }

    /// Prints an event of a stream as one line of JSON. `data` is inserted unchanged if it is JSON, else as a string.
    pub(crate) fn event(self, name: &str, id: Option<u64>, data: &str) -> CommandResult {
        self.line(&match serde_json::from_str::<&RawValue>(data) {
            Ok(data) => format!(r#"{{"event":{},"id":{},"data":{data}}}"#, json!(name), json!(id)),
            Err(_) => json!({ "event": name, "id": id, "data": data }).to_string(),
        })
    }

    /// Prints a note to stderr.
    pub(crate) fn print_note(self, line: &str) {
        let _ = writeln!(io::stderr(), "{}", plain(line));
    }
}

/// A table without borders, so that its cells can be copied.
pub(crate) fn table<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = borderless();
    table.set_header(header);
    for row in rows {
        table.add_row(row.map(|cell| plain(&cell)));
    }
    render(table)
}

/// The fields of one object, one per line.
pub(crate) fn card<const N: usize>(fields: [(&str, String); N]) -> String {
    let mut table = borderless();
    for (name, value) in fields {
        table.add_row([name.to_owned(), plain(&value)]);
    }
    render(table)
}

fn borderless() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table
}

fn render(mut table: Table) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt()
}

/// The value, or a dash.
pub(crate) fn or_dash<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "-".into(), |value| value.to_string())
}

/// A time to the second, or a dash.
pub(crate) fn time(value: Option<impl std::fmt::Display>) -> String {
    or_dash(value.map(|time| format!("{time:.0}")))
}

pub(crate) fn yes_no(value: bool) -> String {
    if value { "yes".into() } else { "no".into() }
}

/// The beginning of an escaped character: `<U+001B>`.
const ESCAPE: &str = "<U+";

/// Escapes a text from an agent, a file or the network for the terminal. A character that controls the terminal, changes
/// the writing direction or is invisible becomes `<U+001B>`. A literal `<U+` in the text is escaped too, so that no text
/// can imitate an escape.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    loop {
        let imitates_escape = rest.as_str().starts_with(ESCAPE);
        let Some(character) = rest.next() else { return out };
        if imitates_escape || !is_visible(character) {
            out.push_str(&format!("{ESCAPE}{:04X}>", u32::from(character)));
        } else {
            out.push(character);
        }
    }
}

fn is_visible(character: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator};
    !matches!(get_general_category(character), Control | Format | LineSeparator | ParagraphSeparator)
}

/// Foreign JSON on one line, escaped like [`plain`]. Outside of strings, JSON allows line breaks and tabs only as
/// whitespace, so they can become spaces.
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
    fn a_name_cannot_control_the_terminal() {
        assert_eq!(plain("a\x1b[2Jb\r\n\u{9b}é"), "a<U+001B>[2Jb<U+000D><U+000A><U+009B>é");
        let rendered = table(["NAME", "SIZE"], [["\x1b]0;x\x07".into(), "1".into()]]);
        assert!(!rendered.contains(['\x1b', '\x07']), "{rendered:?}");
    }

    #[test]
    fn invisible_characters_are_escaped_and_no_text_imitates_an_escape() {
        for (invisible, escaped) in [
            ('\u{202e}', "<U+202E>"),
            ('\u{2066}', "<U+2066>"),
            ('\u{200b}', "<U+200B>"),
            ('\u{2028}', "<U+2028>"),
            ('\u{2029}', "<U+2029>"),
            ('\u{feff}', "<U+FEFF>"),
            ('\u{ad}', "<U+00AD>"),
            ('\u{e0041}', "<U+E0041>"),
        ] {
            assert_eq!(plain(&format!("a{invisible}b")), format!("a{escaped}b"));
        }
        for visible in ["C:\\new\\table", "e\u{301}", "漢字", "a < U+1", "👍"] {
            assert_eq!(plain(visible), visible);
        }
        assert_eq!(plain("<U+202E>"), "<U+003C>U+202E>");
    }

    #[test]
    fn columns_are_aligned_without_trailing_spaces() {
        let rendered = table(["A", "LONGER"], [["value".into(), "x".into()], ["v".into(), "-".into()]]);
        assert_eq!(rendered, "A      LONGER\nvalue  x\nv      -");
    }
}
