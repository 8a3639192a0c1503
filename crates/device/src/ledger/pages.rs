//! The files of a record.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The file that is written.
const CURRENT: &str = "audit.jsonl";

/// What the file is called that will be written next.
const NEXT: &str = "audit.next";

/// What a file that was put aside is called: `audit-` and the number of its first entry, so that they sort.
const PREFIX: &str = "audit-";
const SUFFIX: &str = ".jsonl";

pub(super) fn current(directory: &Path) -> PathBuf {
    directory.join(CURRENT)
}

/// The file that is written next, until it is in its place.
pub(super) fn next(directory: &Path) -> PathBuf {
    directory.join(NEXT)
}

pub(super) fn aside(directory: &Path, first: u64) -> PathBuf {
    directory.join(format!("{PREFIX}{first:020}{SUFFIX}"))
}

/// The files that were put aside, the oldest first.
pub(super) fn old(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut old = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
        if number.is_some_and(|number| number.len() == 20 && number.bytes().all(|b| b.is_ascii_digit())) {
            old.push(directory.join(name));
        }
    }
    old.sort();
    Ok(old)
}
