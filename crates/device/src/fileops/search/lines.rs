//! Lines that match, with those around them.

use std::{collections::VecDeque, io};

use grep_matcher::Matcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};
use protocol::relay::{RelayPath, file::SearchMatch};

use super::query::Query;

/// How much of a line is told.
pub(super) const LINE_BYTES_MAX: usize = 2048;

/// What a match is long besides its lines.
const MATCH_BYTES: usize = 100;

/// How long a match is in a frame, about.
pub(super) fn size(found: &SearchMatch) -> usize {
    let around = found.before.iter().chain(&found.after).map(|line| line.len() + 4).sum::<usize>();
    MATCH_BYTES + found.path.as_str().len() + found.text.len() + around
}

/// The matches of one file, given away when the lines after them are known.
pub(super) struct Lines<'a, F> {
    query: &'a Query,
    path: &'a RelayPath,
    /// Takes a match; says whether more are wanted.
    take: F,
    /// The last lines, for those that match next.
    recent: VecDeque<(u64, String)>,
    /// Matches that lack lines after them.
    open: VecDeque<SearchMatch>,
}

impl<'a, F: FnMut(SearchMatch) -> bool> Lines<'a, F> {
    pub(super) fn new(query: &'a Query, path: &'a RelayPath, take: F) -> Self {
        Self { query, path, take, recent: VecDeque::new(), open: VecDeque::new() }
    }

    fn around(&self) -> u64 {
        self.query.context as u64
    }

    /// A line was read: it belongs to the matches before it that are near enough.
    fn line(&mut self, number: u64, text: &str) -> bool {
        for found in &mut self.open {
            found.after.push(text.to_owned());
        }
        let last = number.saturating_sub(self.around());
        while self.open.front().is_some_and(|found| found.line <= last) {
            if !self.give() {
                return false;
            }
        }
        if self.around() > 0 {
            if self.recent.len() as u64 >= self.around() {
                self.recent.pop_front();
            }
            self.recent.push_back((number, text.to_owned()));
        }
        true
    }

    fn give(&mut self) -> bool {
        self.open.pop_front().is_none_or(|found| (self.take)(found))
    }

    fn give_all(&mut self) -> bool {
        while !self.open.is_empty() {
            if !self.give() {
                return false;
            }
        }
        true
    }
}

impl<F: FnMut(SearchMatch) -> bool> Sink for Lines<'_, F> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let number = found.line_number().unwrap_or(0);
        let text = text(found.bytes());
        let nearest = number.saturating_sub(self.around());
        let before =
            self.recent.iter().filter(|(at, _)| *at >= nearest).map(|(_, text)| text.clone()).collect();
        let column = self.query.matcher.find(found.bytes()).ok().flatten().map(|at| at.start() as u64 + 1);
        if !self.line(number, &text) {
            return Ok(false);
        }
        let found =
            SearchMatch { path: self.path.clone(), line: number, column, text, before, after: Vec::new() };
        self.open.push_back(found);
        Ok(self.around() > 0 || self.give())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.line(context.line_number().unwrap_or(0), &text(context.bytes())))
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.recent.clear();
        Ok(self.give_all())
    }

    fn finish(&mut self, _: &Searcher, _: &SinkFinish) -> io::Result<()> {
        self.give_all();
        Ok(())
    }
}

/// A line without its end, cut where it is too long.
fn text(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut text = String::from_utf8_lossy(&line[..line.len().min(LINE_BYTES_MAX)]).into_owned();
    // What was cut inside of a character ends with a mark of that.
    if line.len() > LINE_BYTES_MAX {
        text.truncate(text.trim_end_matches('\u{fffd}').len());
    }
    text
}
