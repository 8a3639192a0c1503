//! The storage behind `/v1/config`: one JSON file per kind of entry, replaced atomically.

use std::{
    collections::BTreeMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use files::private_file;
use parking_lot::Mutex;
use protocol::{
    ProblemKind,
    config::{McpServer, Skill},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use server::ErrorChain;
use tracing::error;

use crate::api_error::ApiError;

/// How many entries one file may hold. Every change rewrites the whole file.
const ENTRIES_MAX: usize = 10_000;

/// The stored MCP servers and skills of directories. Clones share them.
#[derive(Clone)]
pub(crate) struct ConfigStore {
    pub(crate) mcp: EntryFile<McpServer>,
    pub(crate) skills: EntryFile<Skill>,
}

impl ConfigStore {
    pub(crate) fn new(directory: &Path) -> Self {
        Self {
            mcp: EntryFile::new(directory.join("mcp.json")),
            skills: EntryFile::new(directory.join("skills.json")),
        }
    }
}

/// A directory that has entries: its absolute path, without a trailing slash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct ConfigDirectory(String);

impl TryFrom<String> for ConfigDirectory {
    type Error = &'static str;

    fn try_from(path: String) -> Result<Self, &'static str> {
        if !path.starts_with('/') || path.len() > 4096 || path.contains('\0') {
            return Err("`directory` must be an absolute path of at most 4096 bytes");
        }
        let trimmed = path.trim_end_matches('/');
        Ok(Self(if trimmed.is_empty() { "/".into() } else { trimmed.into() }))
    }
}

/// The name of an entry in its directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct EntryName(String);

impl TryFrom<String> for EntryName {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, &'static str> {
        if name.is_empty() || name.len() > 256 || name.contains(char::is_control) {
            return Err("a name must have 1 to 256 bytes and no control characters");
        }
        Ok(Self(name))
    }
}

impl fmt::Display for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

type Entries<T> = BTreeMap<ConfigDirectory, BTreeMap<EntryName, T>>;

/// All entries of one kind, cached in memory.
pub(crate) struct EntryFile<T> {
    inner: Arc<EntryFileInner<T>>,
}

impl<T> Clone for EntryFile<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

struct EntryFileInner<T> {
    file: PathBuf,
    /// `None` until the file was read. The lock is held while the file is written, so that writes keep their order.
    entries: Mutex<Option<Entries<T>>>,
}

impl<T: Clone + Serialize + DeserializeOwned + Send + 'static> EntryFile<T> {
    fn new(file: PathBuf) -> Self {
        Self { inner: Arc::new(EntryFileInner { file, entries: Mutex::new(None) }) }
    }

    /// The entry of that name.
    pub(crate) async fn read(&self, directory: &ConfigDirectory, name: &EntryName) -> Result<T, ApiError> {
        let directory = directory.clone();
        let key = name.clone();
        let found =
            self.with(move |entries, _| Ok(entries.get(&directory).and_then(|all| all.get(&key)).cloned()));
        found.await?.ok_or_else(|| {
            ApiError::new(
                ProblemKind::EntryNotFound,
                format!(
                    "the directory has no entry named `{name}`; list its entries by leaving out the name"
                ),
            )
        })
    }

    /// All entries of a directory, by name.
    pub(crate) async fn list(&self, directory: &ConfigDirectory) -> Result<BTreeMap<String, T>, ApiError> {
        let directory = directory.clone();
        let all =
            self.with(move |entries, _| Ok(entries.get(&directory).cloned().unwrap_or_default())).await?;
        Ok(all.into_iter().map(|(name, entry)| (name.0, entry)).collect())
    }

    /// Stores an entry. It is on disk when this returns.
    pub(crate) async fn write(
        &self,
        directory: ConfigDirectory,
        name: EntryName,
        entry: T,
    ) -> Result<(), ApiError> {
        self.change(move |entries| {
            let count: usize = entries.values().map(BTreeMap::len).sum();
            if count >= ENTRIES_MAX {
                let detail = format!(
                    "there are already {ENTRIES_MAX} entries, which is the maximum: delete some first"
                );
                return Err(ApiError::new(ProblemKind::NoSpace, detail));
            }
            entries.entry(directory).or_default().insert(name, entry);
            Ok(())
        })
        .await
    }

    /// Deletes an entry, if it exists.
    pub(crate) async fn delete(&self, directory: ConfigDirectory, name: EntryName) -> Result<(), ApiError> {
        self.change(move |entries| {
            if let Some(all) = entries.get_mut(&directory) {
                all.remove(&name);
                if all.is_empty() {
                    entries.remove(&directory);
                }
            }
            Ok(())
        })
        .await
    }

    /// Changes a copy and writes it to disk. Readers see the change only after that.
    async fn change(
        &self,
        change: impl FnOnce(&mut Entries<T>) -> Result<(), ApiError> + Send + 'static,
    ) -> Result<(), ApiError> {
        self.with(move |entries, file| {
            let mut changed = entries.clone();
            change(&mut changed)?;
            write_whole(file, &changed).map_err(|error| ApiError::internal(&error))?;
            *entries = changed;
            Ok(())
        })
        .await
    }

    /// Runs `work` on the entries, reading the file first if needed.
    async fn with<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Entries<T>, &Path) -> Result<R, ApiError> + Send + 'static,
    ) -> Result<R, ApiError> {
        let inner = self.inner.clone();
        let result = tokio::task::spawn_blocking(move || {
            let mut entries = inner.entries.lock();
            let entries = match &mut *entries {
                Some(entries) => entries,
                empty => empty.insert(read_whole(&inner.file)?),
            };
            work(entries, &inner.file)
        });
        result.await.map_err(|error| ApiError::internal(&error))?
    }
}

/// Reads all entries; none if the file does not exist. An invalid file is renamed, so that it is not lost, and reported.
fn read_whole<T: DeserializeOwned>(file: &Path) -> Result<Entries<T>, ApiError> {
    let Some(bytes) = private_file::read(file).map_err(|error| ApiError::internal(&error))? else {
        return Ok(Entries::default());
    };
    let broken = match serde_json::from_slice(&bytes) {
        Ok(entries) => return Ok(entries),
        Err(error) => error,
    };
    let aside = file.with_extension(format!("corrupt-{}", jiff::Timestamp::now().as_millisecond()));
    std::fs::rename(file, &aside).map_err(|error| ApiError::internal(&error))?;
    error!(error = %ErrorChain(&broken), aside = %aside.display(), "renamed an invalid configuration file");
    let detail = format!(
        "`{}` is invalid ({broken}); it was renamed to `{}`, and the next request starts with an empty file",
        file.display(),
        aside.display()
    );
    Err(ApiError::new(ProblemKind::StoreCorrupt, detail))
}

/// Replaces the file. Entries may hold keys, so only the owner may read it.
fn write_whole<T: Serialize>(file: &Path, entries: &Entries<T>) -> io::Result<()> {
    let directory = file.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(directory)?;
    private_file::write(file, &serde_json::to_vec_pretty(entries)?)
}

#[cfg(test)]
mod tests;
