//! Searches for lines in files.

use std::collections::VecDeque;

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use protocol::relay::{
    RelayError, RelayErrorCode, VirtualPath,
    file::{CaseSensitivity, MatchBatch, SearchFiles, SearchMatch, SearchSummary},
    method::{FileSearch, RelayMethod},
};

use super::{At, Error};
use crate::{Call, Environment, Part};

/// The parameters of a search.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// The directory or file; `/` for the whole environment.
    pub path: String,
    /// The pattern.
    pub pattern: String,
    /// Whether the pattern is a regular expression.
    pub regex: bool,
    /// Whether upper and lower case are distinct.
    pub case: Option<CaseSensitivity>,
    /// Search only files that match one of these globs.
    pub include: Vec<String>,
    /// Skip files that match one of these globs.
    pub exclude: Vec<String>,
    /// The number of context lines around each match.
    pub context: Option<u32>,
    /// The maximum number of matches.
    pub limit: Option<u64>,
}

/// An event of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A match.
    Line {
        /// The file.
        path: VirtualPath,
        /// The matching line.
        matched: SearchMatch,
    },
    /// The end of the search.
    Over(SearchSummary),
}

/// Searches one directory after the other.
pub(super) fn start(
    environment: &Environment,
    within: Result<Vec<At>, Error>,
    search: Search,
) -> BoxStream<'static, Result<Found, Error>> {
    let within = match within {
        Ok(within) => within,
        Err(error) => return stream::iter([Err(error)]).boxed(),
    };
    let looking = Looking {
        environment: environment.clone(),
        search,
        places: within.into(),
        call: None,
        found: VecDeque::new(),
        over: SearchSummary { matches: 0, files: 0, truncated: false },
        ended: false,
    };
    stream::try_unfold(looking, |mut looking| async move {
        Ok(looking.next().await?.map(|found| (found, looking)))
    })
    .fuse()
    .boxed()
}

struct Looking {
    environment: Environment,
    search: Search,
    places: VecDeque<At>,
    /// The directory that is being searched.
    call: Option<(At, Call)>,
    found: VecDeque<SearchMatch>,
    over: SearchSummary,
    ended: bool,
}

impl Looking {
    async fn next(&mut self) -> Result<Option<Found>, Error> {
        loop {
            let Some((at, call)) = &mut self.call else {
                match self.places.pop_front() {
                    Some(at) => {
                        self.begin(at).await;
                        continue;
                    }
                    None if self.ended => return Ok(None),
                    None => {
                        self.ended = true;
                        return Ok(Some(Found::Over(self.over)));
                    }
                }
            };
            if let Some(matched) = self.found.pop_front() {
                let Some(path) = at.root.virtual_path.join(&matched.path) else { continue };
                return Ok(Some(Found::Line { path, matched }));
            }
            match call.next().await {
                Some(Part::Stream(frame)) => {
                    // Other events are progress.
                    if let Ok(batch) = frame.data.read::<MatchBatch>() {
                        self.found = batch.matches.into();
                    }
                }
                Some(Part::Outcome(outcome)) => {
                    let over = outcome.and_then(|over| FileSearch::result(&over));
                    let over = over.map_err(|error| at.error(error))?;
                    self.over.matches += over.matches;
                    self.over.files += over.files;
                    self.over.truncated |= over.truncated;
                    self.call = None;
                }
                None => {
                    let error = RelayError::new(
                        RelayErrorCode::RelayDisconnected,
                        "the search ended without a result",
                    );
                    return Err(at.error(error));
                }
            }
        }
    }

    async fn begin(&mut self, at: At) {
        let left = self.search.limit.map(|limit| limit.saturating_sub(self.over.matches));
        if left == Some(0) {
            self.over.truncated = true;
            return;
        }
        let Search { pattern, regex, case, include, exclude, context, .. } = self.search.clone();
        let params = SearchFiles {
            root_id: at.root_id(),
            path: at.path.clone(),
            pattern,
            regex,
            case,
            include,
            exclude,
            context,
            limit: left,
            timeout_ms: None,
        };
        let call = self.environment.start::<FileSearch>(&params, None).await;
        self.call = Some((at, call));
    }
}
