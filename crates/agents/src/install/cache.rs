//! Archives that were verified once, kept so that the next home needs no network.
//!
//! `archives/<sha256>` is an archive; `index/<name>.json` says which archive something is. An archive is read again
//! and compared before it is used, so a damaged one is only a download more.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use files::private_file;
use serde::{Deserialize, Serialize};

use super::digest;

/// How much is kept; the archives that were not used for longest go first.
const CACHE_BYTES_MAX: u64 = 8 << 30;

/// Archives that were verified once.
#[derive(Debug, Clone)]
pub struct Cache {
    directory: PathBuf,
}

/// What is known of something in the cache.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    /// What it is, for people who look.
    what: String,
    sha256: String,
    /// Whether it was compared with a checksum that somebody published.
    verified: bool,
}

/// An archive that is in the cache.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) path: PathBuf,
    pub(crate) sha256: String,
    pub(crate) verified: bool,
}

impl Cache {
    /// In that directory, which is made when it is needed.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The archive that `what` is, if it is here and undamaged.
    pub(crate) fn get(&self, what: &str) -> Option<Kept> {
        let index = self.index(what);
        let entry: Entry = serde_json::from_slice(&fs::read(&index).ok()?).ok()?;
        let path = self.archive(&entry.sha256);
        if digest::of_file(&path).ok()? != entry.sha256 {
            let _ = fs::remove_file(&path); // whoever needs it fetches it again
            return None;
        }
        // The time of the last use decides what goes first.
        let _ = fs::File::options()
            .append(true)
            .open(&path)
            .and_then(|file| file.set_modified(SystemTime::now()));
        Some(Kept { path, sha256: entry.sha256, verified: entry.verified })
    }

    /// Takes the archive at `path`, which is moved, as what `what` is.
    pub(crate) fn put(&self, what: &str, path: &Path, sha256: &str, verified: bool) -> io::Result<PathBuf> {
        let archive = self.archive(sha256);
        fs::create_dir_all(self.directory.join("archives"))?;
        fs::create_dir_all(self.directory.join("index"))?;
        if fs::rename(path, &archive).is_err() {
            // Another filesystem: what is there is whole or not there, all the same.
            private_file::write_with(&archive, |file| io::copy(&mut fs::File::open(path)?, file).map(drop))?;
            fs::remove_file(path)?;
        }
        let entry = Entry { what: what.to_owned(), sha256: sha256.to_owned(), verified };
        private_file::write(&self.index(what), &serde_json::to_vec(&entry)?)?;
        self.bound(CACHE_BYTES_MAX, &archive)?;
        Ok(archive)
    }

    /// Forgets everything; how many bytes that were.
    pub fn clear(&self) -> io::Result<u64> {
        let bytes = self.archives()?.iter().map(|(_, bytes, _)| bytes).sum();
        match fs::remove_dir_all(&self.directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(bytes),
        }
    }

    /// Removes what was not used for longest until at most `most` bytes are left; never `keep`.
    fn bound(&self, most: u64, keep: &Path) -> io::Result<()> {
        let mut archives = self.archives()?;
        archives.sort_by_key(|(_, _, used)| *used);
        let mut total: u64 = archives.iter().map(|(_, bytes, _)| bytes).sum();
        for (path, bytes, _) in archives {
            if total <= most {
                break;
            }
            if path != keep {
                let _ = fs::remove_file(path); // somebody else may have been faster
                total -= bytes;
            }
        }
        Ok(())
    }

    fn archives(&self) -> io::Result<Vec<(PathBuf, u64, SystemTime)>> {
        let Ok(entries) = fs::read_dir(self.directory.join("archives")) else { return Ok(Vec::new()) };
        let described = entries.map(|entry| {
            let entry = entry?;
            let metadata = entry.metadata()?;
            Ok((entry.path(), metadata.len(), metadata.modified()?))
        });
        described.collect()
    }

    fn archive(&self, sha256: &str) -> PathBuf {
        self.directory.join("archives").join(sha256)
    }

    fn index(&self, what: &str) -> PathBuf {
        self.directory.join("index").join(format!("{}.json", digest::of_text(what)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(cache: &Cache, what: &str, content: &str) -> PathBuf {
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        fs::write(&file, content).unwrap();
        let sha256 = digest::of_file(&file).unwrap();
        let kept = cache.put(what, &file, &sha256, true).unwrap();
        std::mem::forget(file);
        kept
    }

    #[test]
    fn what_was_put_is_found_until_it_is_damaged() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path().join("cache"));
        assert!(cache.get("a").is_none());
        let path = put(&cache, "a", "content");
        assert_eq!(fs::read_to_string(cache.get("a").unwrap().path).unwrap(), "content");
        fs::write(&path, "other").unwrap();
        assert!(cache.get("a").is_none() && !path.exists());
        put(&cache, "b", "content");
        assert_eq!(cache.clear().unwrap(), 7);
        assert!(cache.get("b").is_none());
        assert_eq!(cache.clear().unwrap(), 0);
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path().into());
        let [a, b, c] = ["a", "b", "c"].map(|what| put(&cache, what, what));
        for (age, path) in [(30, &a), (20, &b), (10, &c)] {
            let file = fs::File::options().append(true).open(path).unwrap();
            file.set_modified(SystemTime::now() - std::time::Duration::from_secs(age)).unwrap();
        }
        assert!(cache.get("a").is_some());
        cache.bound(2, &c).unwrap();
        assert!(a.exists() && !b.exists() && c.exists());
    }
}
