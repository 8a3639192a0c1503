//! One thing that is said in a question, under its name.

use unicode_width::UnicodeWidthStr;

use crate::output::plain;

/// How wide the narrowest text is, where a terminal has no room.
const TEXT_COLUMNS_MIN: usize = 20;

/// Where another line of the same begins, and where one goes on. Nothing of somebody else stands before these bars, so
/// that none of it can look like a line of ours.
const LINE: &str = "        | ";
const REST: &str = "        : ";

/// One thing that is said in a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field {
    before: String,
    /// All characters in them can be seen.
    lines: Vec<String>,
}

impl Field {
    /// The first line of a question.
    pub(super) fn head(text: &str) -> Self {
        Self { before: "? ".into(), lines: vec![plain(text)] }
    }

    /// A line.
    pub(super) fn line(name: &str, text: &str) -> Self {
        Self { before: format!("  {name:<6}| "), lines: vec![plain(text)] }
    }

    /// A text with as many lines as it has.
    pub(super) fn text(name: &str, text: &str) -> Self {
        Self { lines: text.split('\n').map(plain).collect(), ..Self::line(name, "") }
    }

    /// How many lines it has.
    pub(super) fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// How many characters there are in them.
    pub(super) fn char_count(&self) -> usize {
        self.lines.iter().map(|line| line.chars().count()).sum()
    }

    /// The rows that it takes on a terminal that is so wide.
    pub(super) fn rows(&self, columns: usize) -> Vec<String> {
        let mut rows = Vec::new();
        for (number, line) in self.lines.iter().enumerate() {
            let mut row = if number == 0 { self.before.clone() } else { LINE.to_owned() };
            for character in line.chars() {
                row.push(character);
                if row.width() >= columns.max(LINE.len() + TEXT_COLUMNS_MIN) {
                    row.pop();
                    rows.push(std::mem::replace(&mut row, format!("{REST}{character}")));
                }
            }
            rows.push(row);
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(field: &Field, columns: usize, expected: &[&str]) {
        assert_eq!(field.rows(columns), expected);
    }

    /// relay-144: what is shown is what it is, and where it ends.
    #[test]
    fn every_row_of_a_text_is_behind_a_bar() {
        check(
            &Field::text("what", "one\n\n  two\\n"),
            80,
            &["  what  | one", "        | ", "        |   two\\n"],
        );
        check(&Field::line("where", "a\nb"), 80, &["  where | a<U+000A>b"]);
        // It would stand at the beginning of a row.
        let text = format!("{}  where | /safe", "x".repeat(29));
        check(
            &Field::line("what", &text),
            40,
            &["  what  | xxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "        :   where | /safe"],
        );
        // A wide character takes two columns.
        check(
            &Field::line("what", &"漢".repeat(11)),
            31,
            &[&format!("  what  | {}", "漢".repeat(10)), "        : 漢"],
        );
    }
}
