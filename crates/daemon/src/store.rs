//! What `/v1/config` keeps: one file per kind, written as a whole or not at all.

use std::{
    collections::BTreeMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use protocol::{
    ProblemKind,
    config::{McpServer, Skill},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use server::ErrorChain;
use tracing::error;

use crate::problem::ApiError;

/// How many entries one file may hold; the file is written as a whole.
const ENTRIES_MAX: usize = 10_000;

/// The two kinds of entries. Clones are the same store.
#[derive(Clone)]
pub(crate) struct Store {
    pub(crate) mcp: Shelf<McpServer>,
    pub(crate) skills: Shelf<Skill>,
}

impl Store {
    pub(crate) fn new(directory: &Path) -> Self {
        Self {
            mcp: Shelf::new(directory.join("mcp.json")),
            skills: Shelf::new(directory.join("skills.json")),
        }
    }
}

/// A directory that entries belong to, by its absolute path without a slash at the end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Directory(String);

impl TryFrom<String> for Directory {
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
pub(crate) struct Name(String);

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, &'static str> {
        if name.is_empty() || name.len() > 256 || name.contains(char::is_control) {
            return Err("a name must have 1 to 256 bytes and no control characters");
        }
        Ok(Self(name))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

type Entries<T> = BTreeMap<Directory, BTreeMap<Name, T>>;

/// Entries of one kind.
pub(crate) struct Shelf<T> {
    inner: Arc<Inner<T>>,
}

impl<T> Clone for Shelf<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

struct Inner<T> {
    file: PathBuf,
    /// `None` until the file was read. Held while the file is written, so that writes keep their order.
    entries: Mutex<Option<Entries<T>>>,
}

impl<T: Clone + Serialize + DeserializeOwned + Send + 'static> Shelf<T> {
    fn new(file: PathBuf) -> Self {
        Self { inner: Arc::new(Inner { file, entries: Mutex::new(None) }) }
    }

    /// The entry of that name.
    pub(crate) async fn read(&self, directory: &Directory, name: &Name) -> Result<T, ApiError> {
        let (directory, key) = (directory.clone(), name.clone());
        let found =
            self.with(move |entries, _| Ok(entries.get(&directory).and_then(|all| all.get(&key)).cloned()));
        found.await?.ok_or_else(|| {
            ApiError::new(ProblemKind::EntryNotFound, format!("the directory has no entry named `{name}`"))
        })
    }

    /// All entries of a directory, by name.
    pub(crate) async fn list(&self, directory: &Directory) -> Result<BTreeMap<String, T>, ApiError> {
        let directory = directory.clone();
        let all =
            self.with(move |entries, _| Ok(entries.get(&directory).cloned().unwrap_or_default())).await?;
        Ok(all.into_iter().map(|(name, entry)| (name.0, entry)).collect())
    }

    /// Stores an entry; when this returns, the file has it.
    pub(crate) async fn write(&self, directory: Directory, name: Name, entry: T) -> Result<(), ApiError> {
        self.change(move |entries| {
            let count: usize = entries.values().map(BTreeMap::len).sum();
            if count >= ENTRIES_MAX {
                let detail = format!("{ENTRIES_MAX} entries are stored already: delete some first");
                return Err(ApiError::new(ProblemKind::NoSpace, detail));
            }
            entries.entry(directory).or_default().insert(name, entry);
            Ok(())
        })
        .await
    }

    /// Forgets an entry, if it is there.
    pub(crate) async fn delete(&self, directory: Directory, name: Name) -> Result<(), ApiError> {
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

    /// Changes a copy, writes it, and only then lets others see it.
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

    /// Runs `work` on the entries, which are read from the file the first time.
    async fn with<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Entries<T>, &Path) -> Result<R, ApiError> + Send + 'static,
    ) -> Result<R, ApiError> {
        let inner = self.inner.clone();
        let done = tokio::task::spawn_blocking(move || {
            let mut entries = inner.entries.lock();
            let entries = match &mut *entries {
                Some(entries) => entries,
                empty => empty.insert(read_whole(&inner.file)?),
            };
            work(entries, &inner.file)
        });
        done.await.map_err(|error| ApiError::internal(&error))?
    }
}

/// What the file holds; nothing if there is none. One that cannot be understood is kept aside and reported.
fn read_whole<T: DeserializeOwned>(file: &Path) -> Result<Entries<T>, ApiError> {
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Entries::default()),
        Err(error) => return Err(ApiError::internal(&error)),
    };
    let broken = match serde_json::from_slice(&bytes) {
        Ok(entries) => return Ok(entries),
        Err(error) => error,
    };
    let aside = file.with_extension(format!("corrupt-{}", jiff::Timestamp::now().as_millisecond()));
    std::fs::rename(file, &aside).map_err(|error| ApiError::internal(&error))?;
    error!(error = %ErrorChain(&broken), aside = %aside.display(), "a stored file cannot be read and was kept aside");
    let detail = format!(
        "`{}` cannot be understood ({broken}); it was kept as `{}`, and the next request starts an empty one",
        file.display(),
        aside.display()
    );
    Err(ApiError::new(ProblemKind::StoreCorrupt, detail))
}

/// Writes beside the file and renames over it. Entries may hold keys: only the owner may read it.
fn write_whole<T: Serialize>(file: &Path, entries: &Entries<T>) -> io::Result<()> {
    let directory = file.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(directory)?;
    // `tempfile` makes it with mode 0600.
    let mut beside = tempfile::NamedTempFile::new_in(directory)?;
    serde_json::to_writer_pretty(&mut beside, entries)?;
    beside.as_file().sync_all()?;
    beside.persist(file)?;
    std::fs::File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests;
