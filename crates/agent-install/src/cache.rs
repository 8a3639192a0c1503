//! Verified archives, kept so that the next home needs no network.
//!
//! `archives/<sha256>` is an archive, and `index/<digest of a key>.json` says which archive a key stands for. A key names
//! the server that the archive came from (see [`OriginKey`]), so an archive of one mirror is never installed in place of
//! another's. Only archives that matched a checksum and could be unpacked are kept. An archive is hashed again before it
//! is used, so a damaged one only costs another download.
//!
//! Versions of Tombolo before these keys wrote entries under other names into the same directory. Those are never read,
//! and their archives are evicted like any other.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use files::private_file;
use serde::{Deserialize, Serialize};

use super::{
    digest::{self, Checksum},
    origin::OriginKey,
};

/// How much is kept; the archives that were not used for longest go first.
const CACHE_BYTES_MAX: u64 = 8 << 30;

/// Verified archives.
#[derive(Debug, Clone)]
pub struct Cache {
    directory: PathBuf,
}

/// Which archive a key stands for.
#[derive(Debug, Serialize, Deserialize)]
struct CacheEntry {
    /// The key, for people who look into the cache.
    origin: String,
    sha256: String,
}

/// An archive that is in the cache.
#[derive(Debug)]
pub(crate) struct CachedArchive {
    pub(crate) path: PathBuf,
    pub(crate) sha256: String,
}

impl Cache {
    /// In that directory, which is made when it is needed.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The archive of `key`, if it is here, undamaged, and has the checksum `expected`.
    pub(crate) fn get(&self, key: &OriginKey, expected: Option<&Checksum>) -> Option<CachedArchive> {
        let index = self.index(key);
        let entry: CacheEntry = serde_json::from_slice(&fs::read(&index).ok()?).ok()?;
        let path = self.archive(&entry.sha256);
        match digest::of_file(&path, expected) {
            Ok(sha256) if sha256 == entry.sha256 => {}
            found => {
                let _ = fs::remove_file(&index); // the next installation downloads it again
                // An archive that is no longer what its name says is of no use to any key.
                if found.is_ok() {
                    let _ = fs::remove_file(&path);
                }
                return None;
            }
        }
        // The time of the last use decides what goes first.
        let _ = fs::File::options()
            .append(true)
            .open(&path)
            .and_then(|file| file.set_modified(SystemTime::now()));
        Some(CachedArchive { path, sha256: entry.sha256 })
    }

    /// Moves the archive at `path` into the cache, in place of what `key` stood for before.
    pub(crate) fn put(&self, key: &OriginKey, path: &Path, sha256: &str) -> io::Result<()> {
        let archive = self.archive(sha256);
        fs::create_dir_all(self.directory.join("archives"))?;
        fs::create_dir_all(self.directory.join("index"))?;
        if fs::rename(path, &archive).is_err() {
            // Another filesystem: what is there is whole or not there, all the same.
            private_file::write_with(&archive, |file| io::copy(&mut fs::File::open(path)?, file).map(drop))?;
            fs::remove_file(path)?;
        }
        let entry = CacheEntry { origin: key.to_string(), sha256: sha256.to_owned() };
        private_file::write(&self.index(key), &serde_json::to_vec(&entry)?)?;
        self.bound(CACHE_BYTES_MAX, &archive)
    }

    /// Deletes everything, and returns how many bytes the archives had.
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
                let _ = fs::remove_file(path); // another process may have been faster
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

    fn index(&self, key: &OriginKey) -> PathBuf {
        self.directory.join("index").join(format!("{}.json", key.digest()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(url: &str) -> OriginKey {
        OriginKey::of_url(url)
    }

    fn put(cache: &Cache, key: &OriginKey, content: &str) -> PathBuf {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("download");
        fs::write(&file, content).unwrap();
        let sha256 = digest::of_file(&file, None).unwrap();
        cache.put(key, &file, &sha256).unwrap();
        cache.archive(&sha256)
    }

    fn content(cache: &Cache, key: &OriginKey) -> Option<String> {
        cache.get(key, None).map(|cached| fs::read_to_string(cached.path).unwrap())
    }

    #[test]
    fn what_was_put_is_found_until_it_is_damaged() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path().join("cache"));
        let (a, b) = (key("https://a.example/x"), key("https://b.example/x"));
        assert_eq!(content(&cache, &a), None);
        let path = put(&cache, &a, "content");
        assert_eq!(content(&cache, &a).unwrap(), "content");
        fs::write(&path, "other").unwrap();
        assert!(content(&cache, &a).is_none() && !path.exists());
        put(&cache, &b, "content");
        assert_eq!(content(&cache, &a), None, "the same content of another server is no answer");
        assert_eq!(cache.clear().unwrap(), 7);
        assert_eq!(content(&cache, &b), None);
        assert_eq!(cache.clear().unwrap(), 0);
    }

    #[test]
    fn a_checksum_that_is_known_later_is_enforced() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path().into());
        let key = key("https://a.example/x");
        put(&cache, &key, "evil");
        let right = Checksum::sha256(&digest::of_text("right")).unwrap();
        assert!(cache.get(&key, Some(&right)).is_none());
        assert_eq!(content(&cache, &key), None, "and the entry is gone");
        put(&cache, &key, "right");
        assert!(cache.get(&key, Some(&right)).is_some());
    }

    /// Entries of earlier versions were keyed by the vendor's name, whichever mirror had served them.
    #[test]
    fn entries_of_earlier_versions_are_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path().into());
        let url = "https://a.example/x";
        let path = put(&cache, &key("https://unrelated.example"), "evil");
        let sha256 = path.file_name().unwrap().to_str().unwrap();
        for name in [url.to_owned(), format!("{url} 1.0.0")] {
            let entry = serde_json::json!({ "what": name, "sha256": sha256, "verified": false });
            let index = directory.path().join("index").join(format!("{}.json", digest::of_text(&name)));
            fs::write(index, entry.to_string()).unwrap();
        }
        assert_eq!(content(&cache, &key(url)), None);
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path().into());
        let keys = ["a", "b", "c"].map(key);
        let [a, b, c] = [0, 1, 2].map(|at: usize| put(&cache, &keys[at], &at.to_string()));
        for (age, path) in [(30, &a), (20, &b), (10, &c)] {
            let file = fs::File::options().append(true).open(path).unwrap();
            file.set_modified(SystemTime::now() - std::time::Duration::from_secs(age)).unwrap();
        }
        assert!(cache.get(&keys[0], None).is_some());
        cache.bound(2, &c).unwrap();
        assert!(a.exists() && !b.exists() && c.exists());
    }
}
