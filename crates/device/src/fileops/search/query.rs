//! What is looked for, and where.

use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use protocol::relay::{
    RelayError,
    file::{CaseSensitivity, SearchFiles},
};

use crate::fileops::refusal::invalid;

/// How many lines around a match are told at most.
pub(super) const CONTEXT_MAX: usize = 10;

/// How many matches are told if nobody says, and at most.
const MATCHES: u64 = 1000;
const MATCHES_MAX: u64 = 100_000;

/// How many globs there may be, of each kind.
const GLOBS_MAX: usize = 64;

/// How large a regular expression may be when it is made ready, and the states that it is run with.
const REGEX_BYTES_MAX: usize = 8 << 20;

/// How long a line may be; a file with a longer one is left out there.
const LINE_BUFFER_BYTES_MAX: usize = 8 << 20;

/// How much of an explanation is told.
const WHY_CHARS_MAX: usize = 500;

/// What is looked for, and where.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) matcher: RegexMatcher,
    globs: Override,
    pub(super) context: usize,
    pub(super) limit: u64,
}

/// What globs say of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Wanted,
    Unwanted,
    Nothing,
}

impl Query {
    /// Reads what is asked for.
    pub(super) fn new(asked: &SearchFiles) -> Result<Self, RelayError> {
        let mut builder = RegexMatcherBuilder::new();
        builder
            .line_terminator(Some(b'\n'))
            .fixed_strings(!asked.regex)
            .size_limit(REGEX_BYTES_MAX)
            .dfa_size_limit(REGEX_BYTES_MAX);
        match asked.case.unwrap_or_default() {
            CaseSensitivity::Sensitive => {}
            CaseSensitivity::Insensitive => drop(builder.case_insensitive(true)),
            CaseSensitivity::Smart => drop(builder.case_smart(true)),
        }
        let matcher =
            builder.build(&asked.pattern).map_err(|error| unclear("invalid_pattern", &error.to_string()))?;
        let context = usize::try_from(asked.context.unwrap_or(0)).unwrap_or(CONTEXT_MAX).min(CONTEXT_MAX);
        let limit = asked.limit.unwrap_or(MATCHES).min(MATCHES_MAX);
        Ok(Self { matcher, globs: globs(asked)?, context, limit })
    }

    /// What the globs say of a path below the root.
    pub(super) fn globs(&self, path: &Path, is_dir: bool) -> Said {
        let said = self.globs.matched(path, is_dir);
        match (said.is_whitelist(), said.is_ignore()) {
            (true, _) => Said::Wanted,
            (_, true) => Said::Unwanted,
            _ => Said::Nothing,
        }
    }

    /// Looks through files, one at a time.
    pub(super) fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_number(true)
            .binary_detection(BinaryDetection::quit(0))
            .before_context(self.context)
            .after_context(self.context)
            .heap_limit(Some(LINE_BUFFER_BYTES_MAX))
            .build()
    }
}

fn globs(asked: &SearchFiles) -> Result<Override, RelayError> {
    if asked.include.len().max(asked.exclude.len()) > GLOBS_MAX {
        let actual = asked.include.len().max(asked.exclude.len());
        return Err(invalid("too_many_globs", format!("at most {GLOBS_MAX} globs of each kind are allowed"))
            .with("limit", GLOBS_MAX)
            .with("actual", actual));
    }
    let mut builder = OverrideBuilder::new("");
    let wrong = |error: ignore::Error| unclear("invalid_glob", &error.to_string());
    for glob in &asked.include {
        // A mark that says the opposite would be taken for one of ours.
        if glob.starts_with('!') {
            return Err(unclear("invalid_glob", "a glob must not start with `!`; use `exclude` instead"));
        }
        builder.add(glob).map_err(wrong)?;
    }
    for glob in &asked.exclude {
        builder.add(&format!("!{glob}")).map_err(wrong)?;
    }
    builder.build().map_err(wrong)
}

fn unclear(reason: &str, why: &str) -> RelayError {
    invalid(reason, why.chars().take(WHY_CHARS_MAX).collect::<String>())
}
