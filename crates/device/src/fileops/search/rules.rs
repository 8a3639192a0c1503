//! Which files are left out because a file beside or above them says so.

use std::{ffi::OsStr, io::Read, os::unix::ffi::OsStrExt, path::Path, sync::Arc};

use files::{DirEntry, OpenDirectory};
use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

/// The files that say so, the one that counts most first.
const NAMES: [&str; 3] = [".rgignore", ".ignore", ".gitignore"];

/// From which of them on they are those of a repository, and end with it.
const GIT: usize = 2;

/// How much of such a file is read.
const RULES_BYTES_MAX: u64 = 256 * 1024;

/// What the files of a directory, and of those above it, say.
#[derive(Debug)]
pub(super) struct Rules {
    above: Option<Arc<Rules>>,
    /// How much of a path is that of the directory.
    prefix: usize,
    files: [Option<Gitignore>; NAMES.len()],
    /// Whether it is the top of a repository.
    repository: bool,
}

impl Rules {
    /// What the files of a directory say besides those above it. Most have none, and cost nothing.
    pub(super) fn of(
        above: Option<Arc<Self>>,
        path: &[u8],
        directory: &OpenDirectory,
        names: &[DirEntry],
    ) -> Option<Arc<Self>> {
        let has = |wanted: &str| {
            names.binary_search_by(|name| name.name.as_os_str().cmp(OsStr::new(wanted))).is_ok()
        };
        let files = NAMES.map(|name| if has(name) { read(directory, name) } else { None });
        let repository = has(".git");
        if !repository && files.iter().all(Option::is_none) {
            return above;
        }
        let prefix = if path.is_empty() { 0 } else { path.len() + 1 };
        Some(Arc::new(Self { above, prefix, files, repository }))
    }

    /// Whether a path below the root is left out.
    pub(super) fn leaves_out(&self, path: &[u8], is_dir: bool) -> bool {
        for kind in 0..NAMES.len() {
            let mut level = Some(self);
            while let Some(rules) = level {
                let below = path.get(rules.prefix..).unwrap_or_default();
                let said = rules.files[kind].as_ref().map(|file| file.matched(as_path(below), is_dir));
                match said {
                    Some(Match::Ignore(_)) => return true,
                    Some(Match::Whitelist(_)) => return false,
                    Some(Match::None) | None => {}
                }
                let ends = kind >= GIT && rules.repository;
                level = rules.above.as_deref().filter(|_| !ends);
            }
        }
        false
    }
}

/// What cannot be read says nothing, and so does a line that makes no sense.
fn read(directory: &OpenDirectory, name: &str) -> Option<Gitignore> {
    let (file, _) = directory.open_read(OsStr::new(name)).ok()?;
    let mut bytes = Vec::new();
    file.take(RULES_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let mut builder = GitignoreBuilder::new("");
    for line in String::from_utf8_lossy(&bytes).lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}

pub(super) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
