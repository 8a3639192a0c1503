//! `file.list`.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use files::{DEPTH_MAX, EntryType, FileErrorCause, LinkHandling, PATH_BYTES_MAX, RootedPath};
use protocol::relay::{
    RelayError,
    file::{DirectoryListing, ListFiles, ListedFile},
};
use tokio_util::sync::CancellationToken;

use super::{
    Spot,
    look::{kind, time},
    refusal::{cancelled, invalid},
};

/// How many entries a page has at most: more than a model reads, and few enough that what waits on each level of a deep tree
/// is a few megabytes.
const ENTRIES_MAX: usize = 5000;

/// How many entries a page has if nobody says.
const ENTRIES: usize = 1000;

/// How long the entries of a page are together at most, so that it fits in a frame.
const BYTES_MAX: usize = 512 * 1024;

/// What an entry is long besides its name.
const ENTRY_BYTES: usize = 120;

/// Lists a directory in the order of the names, each directory before what is in it. Links are not followed.
pub(super) fn list(
    spot: &Spot,
    asked: &ListFiles,
    stop: &CancellationToken,
) -> Result<DirectoryListing, RelayError> {
    let depth = match (asked.recursive, asked.max_depth) {
        (false, _) => 1,
        (true, None) => DEPTH_MAX,
        (true, Some(depth)) => usize::try_from(depth).unwrap_or(DEPTH_MAX).clamp(1, DEPTH_MAX),
    };
    let limit = asked.limit.map_or(ENTRIES, |limit| usize::try_from(limit).unwrap_or(ENTRIES_MAX));
    let mut listing = Listing {
        spot,
        top: spot.at()?,
        hidden: asked.include_hidden.unwrap_or(false),
        depth,
        limit: limit.clamp(1, ENTRIES_MAX),
        page: DirectoryListing { entries: Vec::new(), next_page: None },
        bytes: 0,
        last: Vec::new(),
        levels: Vec::new(),
    };
    match &asked.page {
        None => listing.enter(Vec::new(), None)?,
        Some(page) => listing.enter_behind(&last_of(page)?)?,
    }
    listing.run(stop)?;
    Ok(listing.page)
}

/// A page that is being filled.
struct Listing<'a> {
    spot: &'a Spot,
    top: RootedPath,
    hidden: bool,
    /// How many levels there are at most.
    depth: usize,
    limit: usize,
    page: DirectoryListing,
    /// How long the page is.
    bytes: usize,
    /// The path of the last entry of the page.
    last: Vec<u8>,
    levels: Vec<Level>,
}

/// A directory on the way down. It is not held open: to go on it is opened again, as safely as before.
struct Level {
    /// Its path from the top, without a slash at either end.
    path: Vec<u8>,
    /// What comes next in it.
    entries: std::vec::IntoIter<files::FileEntry>,
    /// Where it goes on after that.
    next: Option<OsString>,
}

impl Listing<'_> {
    fn run(&mut self, stop: &CancellationToken) -> Result<(), RelayError> {
        while let Some(level) = self.levels.last_mut() {
            if stop.is_cancelled() {
                return Err(cancelled());
            }
            let Some(entry) = level.entries.next() else {
                let Level { path, next, .. } = self.levels.pop().unwrap_or_else(Level::nothing);
                if let Some(next) = next {
                    self.enter(path, Some(&next))?;
                }
                continue;
            };
            let name = name_of(&entry);
            if !self.hidden && name.starts_with(b".") {
                continue;
            }
            let path = below(&level.path, name);
            let size = ENTRY_BYTES + escaped(&path);
            let entries = self.page.entries.len();
            if entries >= self.limit || entries > 0 && self.bytes + size > BYTES_MAX {
                self.page.next_page = Some(BASE64_URL_SAFE_NO_PAD.encode(&self.last));
                return Ok(());
            }
            self.bytes += size;
            self.put(&path, &entry);
            self.last.clone_from(&path);
            if entry.kind == EntryType::Directory && self.levels.len() < self.depth {
                self.enter(path, None)?;
            }
        }
        Ok(())
    }

    fn put(&mut self, path: &[u8], entry: &files::FileEntry) {
        self.page.entries.push(ListedFile {
            name: String::from_utf8_lossy(path).into_owned(),
            kind: kind(entry.kind),
            size_bytes: (entry.kind == EntryType::File).then_some(entry.size),
            mtime: Some(time(entry.modified)),
        });
    }

    /// Goes on in a directory, behind a name.
    fn enter(&mut self, path: Vec<u8>, after: Option<&OsStr>) -> Result<(), RelayError> {
        let page = self.at(&path).and_then(|at| self.spot.files.entries(&at, after, self.limit.max(ENTRIES)));
        match page {
            Ok(page) => {
                self.levels.push(Level { path, entries: page.items.into_iter(), next: page.next });
                Ok(())
            }
            // It was there a moment ago, as a directory; or it is one that cannot be looked into.
            Err(error) if !path.is_empty() && !matches!(error.cause, FileErrorCause::Io(_)) => Ok(()),
            Err(error) => Err(self.spot.refused(&error)),
        }
    }

    /// Goes on behind the last entry of the page before: first with what is in it, if it is a directory.
    fn enter_behind(&mut self, last: &[u8]) -> Result<(), RelayError> {
        let mut path = Vec::new();
        for name in last.split(|byte| *byte == b'/') {
            self.enter(path.clone(), Some(OsStr::from_bytes(name)))?;
            path = below(&path, name);
            let stat = self.at(&path).and_then(|at| self.spot.files.stat(&at, LinkHandling::Keep));
            if self.levels.len() >= self.depth || !stat.is_ok_and(|stat| stat.kind == EntryType::Directory) {
                return Ok(());
            }
        }
        self.enter(path, None)
    }

    fn at(&self, path: &[u8]) -> Result<RootedPath, files::Error> {
        RootedPath::parse(OsStr::from_bytes(&below(self.top.as_os_str().as_bytes(), path)))
    }
}

impl Level {
    fn nothing() -> Self {
        Self { path: Vec::new(), entries: Vec::new().into_iter(), next: None }
    }
}

/// The last entry of a page, as the page says it.
fn last_of(page: &str) -> Result<Vec<u8>, RelayError> {
    let unknown = || invalid("unknown_page", "unknown page token; start the listing again");
    let last = BASE64_URL_SAFE_NO_PAD.decode(page).map_err(|_| unknown())?;
    let fits = !last.is_empty() && last.len() <= PATH_BYTES_MAX && !last.contains(&0);
    let mut names = last.split(|byte| *byte == b'/');
    if fits && names.all(|name| !matches!(name, b"" | b"." | b"..")) { Ok(last) } else { Err(unknown()) }
}

/// The exact name, which need not be UTF-8.
fn name_of(entry: &files::FileEntry) -> &[u8] {
    let path = entry.path.as_os_str().as_bytes();
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

fn below(path: &[u8], name: &[u8]) -> Vec<u8> {
    let slash: &[u8] = if path.is_empty() || path.ends_with(b"/") || name.is_empty() { b"" } else { b"/" };
    [path, slash, name].concat()
}

/// How long a name is in JSON at most.
fn escaped(path: &[u8]) -> usize {
    // What is no UTF-8 is replaced by a character of three bytes.
    path.iter()
        .map(|byte| {
            if *byte < b' ' {
                6
            } else if byte.is_ascii() {
                2
            } else {
                3
            }
        })
        .sum()
}
