//! Finds the paths that rules name in a text that comes in pieces.

use super::paths::{MASK, PathPiece, PathRule, PathRules};

/// The longest that a path can be (`PATH_MAX`): what is longer is none.
const HELD_BYTES_MAX: usize = 4096;

/// A text that comes in pieces, as far as it has come. What may be the beginning of a path is held until it is known.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    /// What may become a path.
    candidates: Vec<Candidate>,
    /// What was not shown yet: it begins with the first candidate.
    held: String,
    /// A path is hidden, and goes on.
    hiding: Option<Until>,
    /// What comes next is part of the path, whatever it is.
    escaped: bool,
    /// How the text began is not known, so it is hidden up to the end of the first word.
    lost: bool,
    before: Option<char>,
}

/// A rule that held so far.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    rule: usize,
    /// The piece that comes next.
    at: usize,
    /// Where it began in what is held.
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

impl Scanner {
    /// A text of which the beginning is not known.
    pub(super) fn lost() -> Self {
        Self { lost: true, ..Self::default() }
    }

    /// Whether something is held.
    pub(super) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// How the text goes on; what can be shown by now.
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

    /// Gives what is held: nothing more comes, or all was told in another way.
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
            // Several separators are as good as one.
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

/// Where a rule is after the next character, if it holds: maybe at several places.
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

/// Comes to a place; if nothing more is needed from there on, to the end.
fn reach(pieces: &[PathPiece], at: usize, to: &mut dyn FnMut(usize)) {
    let is_over = pieces[at..].iter().all(|piece| matches!(piece, PathPiece::Run | PathPiece::Deep));
    to(if is_over { pieces.len() } else { at });
}

fn is_quote(next: char) -> bool {
    matches!(next, '"' | '\'' | '`')
}

/// What ends a path in a text.
fn is_delimiter(next: char) -> bool {
    let is_bracket = matches!(next, '<' | '>' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | ';' | '&' | ',');
    is_bracket || is_quote(next) || next.is_whitespace() || next.is_control()
}
