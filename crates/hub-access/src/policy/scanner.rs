//! Finds paths in a text that arrives in pieces.

use super::paths::{MASK, PathPiece, PathRule, PathRules};

/// The longest possible path (`PATH_MAX`); longer text is not a path.
const HELD_BYTES_MAX: usize = 4096;

/// The state after the pieces so far. Text that may be the beginning of a path is held back until that is decided.
#[derive(Debug, Default)]
pub(super) struct PathScanner {
    /// The matches that are not complete yet.
    candidates: Vec<Candidate>,
    /// The text that is held back; it begins with the first candidate.
    held: String,
    /// Set while the rest of a path is hidden.
    hiding: Option<Until>,
    /// The next character belongs to the path, whatever it is.
    escaped: bool,
    /// The beginning of the text is not known, so it is hidden up to the end of the first word.
    lost: bool,
    before: Option<char>,
}

/// A rule that has matched so far.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    rule: usize,
    /// The next piece of the rule.
    at: usize,
    /// Where the match began in the held text.
    start: usize,
    quote: Option<char>,
}

/// Where a path ends.
#[derive(Debug, Clone, Copy)]
enum Until {
    /// With the word.
    Word,
    /// With the quote that it began with.
    Quote(char),
}

impl PathScanner {
    /// For a text whose beginning is not known.
    pub(super) fn lost() -> Self {
        Self { lost: true, ..Self::default() }
    }

    /// Whether text is held back.
    pub(super) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Takes the next piece of the text; returns the text that can be shown by now.
    pub(super) fn push(&mut self, paths: &PathRules, text: &str) -> String {
        let mut shown = String::with_capacity(self.held.len() + text.len());
        for next in text.chars() {
            if std::mem::take(&mut self.lost) && !is_delimiter(next) {
                shown.push_str(MASK);
                self.hiding = Some(Until::Word);
            }
            if !self.is_hidden(next) {
                self.take(paths.rules(), next, &mut shown);
            }
            self.before = Some(next);
        }
        shown
    }

    /// Returns the held text: the text has ended, or arrived as a whole.
    pub(super) fn release(&mut self) -> String {
        self.candidates.iter_mut().for_each(|candidate| candidate.start = 0);
        std::mem::take(&mut self.held)
    }

    /// Whether the next character belongs to a path that is hidden.
    fn is_hidden(&mut self, next: char) -> bool {
        let Some(until) = self.hiding else { return false };
        if std::mem::take(&mut self.escaped) {
            return true;
        }
        self.escaped = next == '\\';
        let is_over = match until {
            Until::Word => is_delimiter(next),
            Until::Quote(quote) => next == quote || next == '\n',
        };
        if is_over {
            self.hiding = None;
        }
        !is_over
    }

    fn take(&mut self, rules: &[PathRule], next: char, shown: &mut String) {
        let begins_name = self.before.is_none_or(|before| before == '/' || is_delimiter(before));
        let quote = self.before.filter(|before| is_quote(*before));
        let starting = rules.iter().enumerate().filter(|(_, rule)| begins_name || !rule.at_name);
        let start = self.held.len();
        let starting = starting.map(|(rule, _)| Candidate { rule, at: 0, start, quote });
        let mut candidates = Vec::new();
        let mut found = None;
        for candidate in self.candidates.drain(..).chain(starting) {
            let pieces = &rules[candidate.rule].pieces;
            let mut reach = |at| {
                if at == pieces.len() {
                    found.get_or_insert(candidate.quote);
                } else if !candidates.iter().any(|known: &Candidate| known.is(candidate.rule, at)) {
                    candidates.push(Candidate { at, ..candidate });
                }
            };
            // Several separators match one.
            if candidate.at > 0 && next == '/' && self.before == Some('/') {
                reach(candidate.at);
            }
            step(pieces, candidate.at, next, &mut reach);
        }
        self.held.push(next);
        if let Some(quote) = found {
            shown.push_str(MASK);
            self.held.clear();
            self.hiding = Some(quote.map_or(Until::Word, Until::Quote));
            return;
        }
        if self.held.len() > HELD_BYTES_MAX {
            candidates.clear();
        }
        let first = candidates.iter().map(|candidate| candidate.start).min().unwrap_or(self.held.len());
        shown.extend(self.held.drain(..first));
        candidates.iter_mut().for_each(|candidate| candidate.start -= first);
        self.candidates = candidates;
    }
}

impl Candidate {
    fn is(&self, rule: usize, at: usize) -> bool {
        (self.rule, self.at) == (rule, at)
    }
}

/// Calls `to` with each position in the rule that the next character can lead to.
fn step(pieces: &[PathPiece], at: usize, next: char, to: &mut dyn FnMut(usize)) {
    let is_name = next != '/' && !is_delimiter(next);
    match pieces.get(at) {
        Some(PathPiece::Char(wanted)) if *wanted == next => reach(pieces, at + 1, to),
        Some(PathPiece::One) if is_name => reach(pieces, at + 1, to),
        Some(PathPiece::Run) => {
            if is_name {
                reach(pieces, at, to);
            }
            step(pieces, at + 1, next, to);
        }
        Some(PathPiece::Deep) => {
            if is_name || next == '/' {
                reach(pieces, at, to);
            }
            step(pieces, at + 1, next, to);
        }
        Some(_) | None => {}
    }
}

/// Calls `to` with the position, or with the end if the rest of the rule matches nothing.
fn reach(pieces: &[PathPiece], at: usize, to: &mut dyn FnMut(usize)) {
    let is_over = pieces[at..].iter().all(|piece| matches!(piece, PathPiece::Run | PathPiece::Deep));
    to(if is_over { pieces.len() } else { at });
}

fn is_quote(next: char) -> bool {
    matches!(next, '"' | '\'' | '`')
}

/// Whether a character ends a path in a text.
fn is_delimiter(next: char) -> bool {
    let is_bracket = matches!(next, '<' | '>' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | ';' | '&' | ',');
    is_bracket || is_quote(next) || next.is_whitespace() || next.is_control()
}
