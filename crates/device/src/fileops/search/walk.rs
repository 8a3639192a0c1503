//! Through a tree, file by file.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    sync::Arc,
};

use files::{DEPTH_MAX, DirEntry, ENTRIES_MAX, EntryType, LinkHandling, OpenDirectory, RootedPath};
use grep_searcher::Searcher;
use protocol::relay::{
    RelayError, RelayPath,
    file::{SearchMatch, SearchSummary},
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    lines::Lines,
    query::{Query, Said},
    rules::{Rules, as_path},
};
use crate::fileops::Spot;

/// How many directories may wait to be looked into.
const PENDING_MAX: usize = 100_000;

/// A search that goes on.
pub(super) struct Walk {
    spot: Spot,
    query: Arc<Query>,
    found: mpsc::Sender<SearchMatch>,
    stop: CancellationToken,
    searcher: Searcher,
    pending: Vec<Pending>,
    searched: SearchSummary,
    /// Whether enough was found, or nobody listens any more.
    over: bool,
}

/// A directory that waits to be looked into.
struct Pending {
    /// Below the root.
    path: Vec<u8>,
    depth: usize,
    rules: Option<Arc<Rules>>,
}

impl Walk {
    pub(super) fn new(
        spot: Spot,
        query: Arc<Query>,
        found: mpsc::Sender<SearchMatch>,
        stop: CancellationToken,
    ) -> Self {
        let searched = SearchSummary { matches: 0, files: 0, truncated: false };
        let searcher = query.searcher();
        Self { spot, query, found, stop, searcher, pending: Vec::new(), searched, over: false }
    }

    pub(super) fn run(mut self) -> Result<SearchSummary, RelayError> {
        let at = self.spot.at()?;
        let refused = |error: files::Error| self.spot.refused(&error);
        let kind = self.spot.files.stat(&at, LinkHandling::Follow).map_err(refused)?.kind;
        if kind == EntryType::Directory {
            // What comes first is asked for, so it is an error if it cannot be looked into.
            self.spot.files.directory(&at, LinkHandling::Follow).map_err(refused)?;
            let path = self.spot.path.as_str().as_bytes().to_vec();
            let rules = self.rules_above(&path);
            self.pending.push(Pending { path, depth: 0, rules });
            self.directories();
        } else {
            let (file, _) = self.spot.files.open_read(&at).map_err(refused)?;
            let path = self.spot.path.clone();
            self.file(&path, file);
        }
        Ok(self.searched)
    }

    fn is_over(&self) -> bool {
        self.over || self.stop.is_cancelled()
    }

    /// The rules of the directories above the one that is searched, as far as they are in the root.
    fn rules_above(&self, path: &[u8]) -> Option<Arc<Rules>> {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let above = [0].into_iter().filter(|_| !path.is_empty()).chain(slashes);
        above.fold(None, |rules, end| match self.look_into(&path[..end], LinkHandling::Follow) {
            Some((directory, names, _)) => Rules::of(rules, &path[..end], &directory, &names),
            None => rules,
        })
    }

    fn directories(&mut self) {
        let top = self.pending.len();
        while let Some(Pending { path, depth, rules }) = self.pending.pop() {
            // What was asked for may be a link; what is found must not be one by now.
            let links = if depth == 0 && top == 1 { LinkHandling::Follow } else { LinkHandling::Keep };
            let Some((directory, names, more)) = self.look_into(&path, links) else { continue };
            self.searched.truncated |= more;
            let rules = Rules::of(rules, &path, &directory, &names);
            let waiting = self.pending.len();
            for name in names {
                if self.is_over() {
                    return;
                }
                self.entry(&path, depth, &directory, &name, rules.as_ref());
            }
            // Those that were found first are searched first.
            self.pending[waiting..].reverse();
        }
    }

    /// What is in a directory, and whether there is more; nothing if it is gone, or cannot be looked into.
    fn look_into(&self, path: &[u8], links: LinkHandling) -> Option<(OpenDirectory, Vec<DirEntry>, bool)> {
        let at = RootedPath::parse(as_path(&[b"/", path].concat())).ok()?;
        let mut directory = self.spot.files.directory(&at, links).ok()?;
        let (names, more) = directory.names(ENTRIES_MAX).ok()?;
        Some((directory, names, more))
    }

    fn entry(
        &mut self,
        dir: &[u8],
        depth: usize,
        directory: &OpenDirectory,
        name: &DirEntry,
        rules: Option<&Arc<Rules>>,
    ) {
        let slash: &[u8] = if dir.is_empty() { b"" } else { b"/" };
        let path = [dir, slash, name.name.as_bytes()].concat();
        let is_dir = name.kind == EntryType::Directory;
        if !is_dir && name.kind != EntryType::File {
            return;
        }
        let wanted = match self.query.globs(as_path(&path), is_dir) {
            Said::Wanted => true,
            Said::Unwanted => false,
            Said::Nothing => {
                !name.name.as_bytes().starts_with(b".")
                    && !rules.is_some_and(|rules| rules.leaves_out(&path, is_dir))
            }
        };
        if !wanted {
            return;
        }
        if is_dir {
            if depth >= DEPTH_MAX || self.pending.len() >= PENDING_MAX {
                self.searched.truncated = true;
                return;
            }
            self.pending.push(Pending { path, depth: depth + 1, rules: rules.cloned() });
            return;
        }
        // What has a name that cannot be said cannot be told of.
        let Some(path) = std::str::from_utf8(&path).ok().and_then(|path| path.parse().ok()) else { return };
        if let Ok((file, _)) = directory.open_read(&name.name) {
            self.file(&path, file);
        }
    }

    fn file(&mut self, path: &RelayPath, file: File) {
        let query = self.query.clone();
        let Self { found, searched, over, stop, searcher, .. } = self;
        let before = searched.matches;
        let take = |line: SearchMatch| {
            if searched.matches >= query.limit {
                searched.truncated = true;
                *over = true;
            } else if found.blocking_send(line).is_err() {
                *over = true;
            } else {
                searched.matches += 1;
            }
            !*over
        };
        let lines = Lines::new(&query, path, take);
        let file = Stoppable { file, stop };
        // A file that cannot be read to its end is left there.
        let _ = searcher.search_reader(&query.matcher, file, lines);
        if searched.matches > before {
            searched.files += 1;
        }
    }
}

/// A file that is not read on when nobody wants it.
struct Stoppable<'a> {
    file: File,
    stop: &'a CancellationToken,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_cancelled() {
            return Err(io::Error::other("the search was stopped"));
        }
        self.file.read(buffer)
    }
}
