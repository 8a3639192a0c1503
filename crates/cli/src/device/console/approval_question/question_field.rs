//! One named field of an approval question.

use unicode_width::UnicodeWidthStr;

use crate::output::plain;

/// Text gets at least this many columns, even on a narrower terminal.
const TEXT_COLUMNS_MIN: usize = 20;

/// The start of a further line of a field, and of the rest of a line that was wrapped. Text from an agent appears only behind
/// these bars, so that a crafted command cannot imitate a field of the question.
const NEXT_LINE: &str = "        | ";
const WRAPPED: &str = "        : ";

/// The start of the row that states how much is not shown.
const HIDDEN: &str = "        … ";

/// One named field of an approval question.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct QuestionField {
    prefix: String,
    /// Without control characters: they are spelled out, see [`plain`].
    lines: Vec<String>,
    /// How many characters behind `lines` are not shown.
    hidden_chars: usize,
}

impl QuestionField {
    /// The first line of a question.
    pub(super) fn heading(text: &str) -> Self {
        Self { prefix: "? ".into(), lines: vec![plain(text)], hidden_chars: 0 }
    }

    /// A field of one line. Line breaks in the text are spelled out.
    pub(super) fn line(name: &str, text: &str) -> Self {
        Self { prefix: format!("  {name:<6}| "), lines: vec![plain(text)], hidden_chars: 0 }
    }

    /// A field that shows a text with its line breaks.
    pub(super) fn text(name: &str, text: &str) -> Self {
        Self { lines: text.split('\n').map(plain).collect(), ..Self::line(name, "") }
    }

    /// Stands for fields that are not shown.
    pub(super) fn hidden(hidden_chars: usize) -> Self {
        Self { prefix: String::new(), lines: Vec::new(), hidden_chars }
    }

    /// The first lines and characters of the field. It states how much more there is.
    pub(super) fn beginning(&self, lines_max: usize, chars_max: usize) -> Self {
        let mut left = chars_max;
        let mut lines = Vec::new();
        for line in self.lines.iter().take(lines_max) {
            let shown: String = line.chars().take(left).collect();
            let is_whole = shown.len() == line.len();
            left -= shown.chars().count();
            lines.push(shown);
            if !is_whole {
                break;
            }
        }
        let shown: usize = lines.iter().map(|line| line.chars().count()).sum();
        // A line break that is not shown counts as a character, so that lines without any text are not forgotten.
        let hidden_breaks = self.lines.len() - lines.len();
        let hidden_chars = self.char_count() - shown + hidden_breaks;
        Self { prefix: self.prefix.clone(), lines, hidden_chars }
    }

    pub(super) fn hidden_chars(&self) -> usize {
        self.hidden_chars
    }

    pub(super) fn line_count(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn char_count(&self) -> usize {
        self.lines.iter().map(|line| line.chars().count()).sum()
    }

    /// The field as rows for a terminal of this width.
    pub(super) fn rows(&self, columns: usize) -> Vec<String> {
        let mut rows = Vec::new();
        for (number, line) in self.lines.iter().enumerate() {
            let mut row = if number == 0 { self.prefix.clone() } else { NEXT_LINE.to_owned() };
            for character in line.chars() {
                row.push(character);
                if row.width() >= columns.max(NEXT_LINE.len() + TEXT_COLUMNS_MIN) {
                    row.pop();
                    rows.push(std::mem::replace(&mut row, format!("{WRAPPED}{character}")));
                }
            }
            rows.push(row);
        }
        // Without a bar, so that text from an agent cannot imitate it.
        if self.hidden_chars > 0 {
            rows.push(format!("{HIDDEN}{} more characters", self.hidden_chars));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(field: &QuestionField, columns: usize, expected: &[&str]) {
        assert_eq!(field.rows(columns), expected);
    }

    /// relay-144: text from an agent cannot leave its field.
    #[test]
    fn every_row_of_a_text_starts_with_a_bar() {
        check(
            &QuestionField::text("what", "one\n\n  two\\n"),
            80,
            &["  what  | one", "        | ", "        |   two\\n"],
        );
        check(&QuestionField::line("where", "a\nb"), 80, &["  where | a<U+000A>b"]);
        // Text that would imitate a field if wrapping put it at the start of a row.
        let text = format!("{}  where | /safe", "x".repeat(29));
        check(
            &QuestionField::line("what", &text),
            40,
            &["  what  | xxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "        :   where | /safe"],
        );
        // A wide character occupies two columns.
        check(
            &QuestionField::line("what", &"漢".repeat(11)),
            31,
            &[&format!("  what  | {}", "漢".repeat(10)), "        : 漢"],
        );
    }
}
