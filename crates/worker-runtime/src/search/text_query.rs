//! The text that a search looks for.

use std::ops::Range;

/// How much text a snippet shows before and after the beginning of an occurrence, in characters.
const BEFORE_CHARS: usize = 60;
const AFTER_CHARS: usize = 140;

/// Words to find next to each other, without regard to case and to the kind of white space between them.
#[derive(Debug, Clone)]
pub struct TextQuery {
    words: Vec<Vec<char>>,
}

impl TextQuery {
    /// The longest query, in characters. The time of a search grows with it.
    pub const CHARS_MAX: usize = 200;

    /// `None` if the text has no words or is too long.
    pub fn new(text: &str) -> Option<Self> {
        let words: Vec<Vec<char>> =
            text.split_whitespace().map(|word| word.chars().map(fold_case).collect()).collect();
        let is_valid = !words.is_empty() && text.chars().count() <= Self::CHARS_MAX;
        is_valid.then_some(Self { words })
    }

    /// The text around the first occurrence.
    pub(super) fn snippet(&self, text: &str) -> Option<String> {
        let Range { start, end } = self.find(text)?;
        let from = text[..start].char_indices().rev().nth(BEFORE_CHARS - 1).map_or(0, |(at, _)| at);
        let to =
            text[start..].char_indices().nth(AFTER_CHARS).map_or(text.len(), |(at, _)| start + at).max(end);
        let words: Vec<&str> = text[from..to].split_whitespace().collect();
        let (before, after) = (if from > 0 { "…" } else { "" }, if to < text.len() { "…" } else { "" });
        Some(format!("{before}{}{after}", words.join(" ")))
    }

    /// Where the first occurrence is.
    fn find(&self, text: &str) -> Option<Range<usize>> {
        let first = *self.words.first()?.first()?;
        let starts = text.char_indices().filter(|(_, letter)| fold_case(*letter) == first);
        starts.map(|(at, _)| at).find_map(|at| Some(at..at + self.length_at_start(&text[at..])?))
    }

    /// How many bytes of `text` the words take, if it begins with them.
    fn length_at_start(&self, text: &str) -> Option<usize> {
        let mut rest = text;
        for (index, word) in self.words.iter().enumerate() {
            if index > 0 {
                let next = rest.trim_start();
                if next.len() == rest.len() {
                    return None;
                }
                rest = next;
            }
            for expected in word {
                let mut letters = rest.chars();
                if fold_case(letters.next()?) != *expected {
                    return None;
                }
                rest = letters.as_str();
            }
        }
        Some(text.len() - rest.len())
    }
}

/// Lower case, one character for each, so that positions in the text stay valid.
fn fold_case(letter: char) -> char {
    if letter.is_ascii() {
        letter.to_ascii_lowercase()
    } else {
        letter.to_lowercase().next().unwrap_or(letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, text: &str, expected: Option<&str>) {
        let snippet = TextQuery::new(query).unwrap().snippet(text);
        assert_eq!(snippet.as_deref(), expected, "`{query}` in `{text}`");
    }

    #[test]
    fn words_are_found_in_any_case_and_over_line_breaks() {
        check("Needle", "a NEEDLE in it", Some("a NEEDLE in it"));
        check("two  words", "one\ntwo\n\twords three", Some("one two words three"));
        check("two words", "twowords", None);
        check("straße", "in der STRASSE", None);
        check("ÄÖ", "xäöx", Some("xäöx"));
        check("aab", "aaab", Some("aaab"));
        check("end", "the en", None);
    }

    #[test]
    fn a_snippet_is_cut_at_whole_characters() {
        let text = format!("{}needle{}", "ä".repeat(100), "ö".repeat(300));
        let expected = format!("…{}needle{}…", "ä".repeat(60), "ö".repeat(134));
        check("needle", &text, Some(&expected));
        let long = "x".repeat(200);
        check(&long, &format!("{long} y"), Some(&format!("{long}…")));
    }

    #[test]
    fn a_query_has_words_and_a_limit() {
        assert!(TextQuery::new(" \n").is_none());
        assert!(TextQuery::new(&"x".repeat(TextQuery::CHARS_MAX)).is_some());
        assert!(TextQuery::new(&"x".repeat(TextQuery::CHARS_MAX + 1)).is_none());
    }
}
