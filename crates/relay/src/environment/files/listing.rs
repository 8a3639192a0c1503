//! Lists directories.

use std::collections::VecDeque;

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use protocol::relay::{
    RelayError, RelayErrorCode,
    file::{EntryKind, ListFiles, ListedFile},
    method::FileList,
};

use super::{At, Error, Seen, WALK_ENTRIES_MAX};
use crate::Environment;

/// Lists a directory.
pub(super) async fn list(environment: &Environment, at: &At) -> Result<Vec<ListedFile>, Error> {
    let mut listing = Listing::new(environment, VecDeque::from([at.clone()]), false);
    let mut entries = Vec::new();
    while let Some((_, entry)) = listing.next().await? {
        entries.push(entry);
    }
    Ok(entries)
}

/// Lists directories recursively.
pub(super) fn walk(
    environment: &Environment,
    within: Result<Vec<At>, Error>,
) -> BoxStream<'static, Result<Seen, Error>> {
    let within = match within {
        Ok(within) => within,
        Err(error) => return stream::iter([Err(error)]).boxed(),
    };
    let listing = Listing::new(environment, within.into(), true);
    stream::try_unfold(listing, |mut listing| async move {
        loop {
            let Some((at, entry)) = listing.next().await? else { return Ok(None) };
            // A name that is not a valid path cannot be requested.
            let path = entry.name.parse().ok().and_then(|name| at.seen.join(&name));
            if let Some(path) = path {
                return Ok(Some((Seen { path, entry }, listing)));
            }
        }
    })
    .fuse()
    .boxed()
}

/// The entry of a virtual directory above roots.
pub(super) fn directory(name: String) -> ListedFile {
    ListedFile { name, kind: EntryKind::Dir, size_bytes: None, mtime: None }
}

/// The directories that are still to be listed, page by page.
struct Listing {
    environment: Environment,
    /// The first one is being listed.
    directories: VecDeque<At>,
    recursive: bool,
    entries: VecDeque<ListedFile>,
    next_page: Option<String>,
    /// Whether a page of the first one was requested.
    begun: bool,
    count: usize,
}

impl Listing {
    fn new(environment: &Environment, directories: VecDeque<At>, recursive: bool) -> Self {
        let environment = environment.clone();
        let (entries, next_page) = (VecDeque::new(), None);
        Self { environment, directories, recursive, entries, next_page, begun: false, count: 0 }
    }

    async fn next(&mut self) -> Result<Option<(At, ListedFile)>, Error> {
        loop {
            let Some(at) = self.directories.front() else { return Ok(None) };
            if let Some(entry) = self.entries.pop_front() {
                self.count += 1;
                if self.count > WALK_ENTRIES_MAX {
                    let error = RelayError::new(
                        RelayErrorCode::InvalidRequest,
                        "the listing is too large; list a smaller directory",
                    );
                    return Err(at.error(error.with("limit", WALK_ENTRIES_MAX)));
                }
                return Ok(Some((at.clone(), entry)));
            }
            if self.begun && self.next_page.is_none() {
                self.begun = false;
                self.directories.pop_front();
                continue;
            }
            let params = ListFiles {
                root_id: at.root_id(),
                path: at.path.clone(),
                recursive: self.recursive,
                max_depth: None,
                include_hidden: Some(true),
                limit: None,
                page: self.next_page.take(),
            };
            let page = self.environment.ask::<FileList>(&params).await.map_err(|error| at.error(error))?;
            // An empty page ends the listing, or a faulty device that always returns a cursor would keep it running.
            self.next_page = page.next_page.filter(|_| !page.entries.is_empty());
            self.entries = page.entries.into();
            self.begun = true;
        }
    }
}
