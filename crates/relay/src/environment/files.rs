//! The files of an environment.

mod listing;
mod reading;
mod search;
mod transfer;
mod writing;

use async_trait::async_trait;
use futures_util::stream::{BoxStream, TryStreamExt};
use jiff::Timestamp;
use protocol::relay::{
    RelayError, RelayErrorCode, RelayPath, Root, RootId, VirtualPath,
    file::{
        CreateMode, DeleteFile, EntryKind, FileStat, IfMatch, ListedFile, MakeDirectory, StatFile,
        WriteFileResult,
    },
    method,
};

pub use search::{Found, Search};

use super::{Environment, Error, Place, binding};

/// The most that is read into memory at once; more is for [`FileOperator::stream`].
pub const READ_BYTES_MAX: usize = 64 << 20;

/// How many entries of directories are listed at most.
pub const WALK_ENTRIES_MAX: usize = 100_000;

/// What can be done with files. Paths are those that a model sees; a relative one starts at the first root.
///
/// Every method fails with [`Error::PathNotAllowed`] for a path that leads out of what is lent, with [`Error::File`] for what
/// else is wrong with a file, and with [`Error::Disconnected`] if the device is gone. Who drops a future or a stream before it
/// has ended cancels what it is for.
#[async_trait]
pub trait FileOperator: Send + Sync {
    /// Reads bytes of a file, at most [`READ_BYTES_MAX`].
    ///
    /// # Errors
    /// As above.
    async fn read_bytes(&self, path: &str, span: Span) -> Result<Vec<u8>, Error>;

    /// Reads text. Of a character that the span cuts, the part within is left out.
    ///
    /// # Errors
    /// As above, also if it is no text.
    async fn read_text(&self, path: &str, span: Span) -> Result<String, Error>;

    /// Reads bytes of a file of any size, in pieces.
    fn stream(&self, path: &str, span: Span) -> BoxStream<'static, Result<Vec<u8>, Error>>;

    /// Writes a whole file. What fits in one message is there all at once or not at all; more is written piece by piece.
    ///
    /// # Errors
    /// As above.
    async fn write(&self, path: &str, content: &[u8], writing: Writing) -> Result<WriteFileResult, Error>;

    /// Writes a whole file as its pieces come.
    ///
    /// # Errors
    /// As above, also if a piece does not come.
    async fn write_stream(
        &self,
        path: &str,
        content: BoxStream<'static, Result<Vec<u8>, Error>>,
    ) -> Result<(), Error>;

    /// Writes after what is in a file.
    ///
    /// # Errors
    /// As above.
    async fn append(&self, path: &str, content: &[u8]) -> Result<WriteFileResult, Error>;

    /// What is in a directory, also hidden.
    ///
    /// # Errors
    /// As above.
    async fn list(&self, path: &str) -> Result<Vec<ListedFile>, Error>;

    /// What is in a directory and all below it.
    fn walk(&self, path: &str) -> BoxStream<'static, Result<Seen, Error>>;

    /// What a path leads to.
    ///
    /// # Errors
    /// As above.
    async fn stat(&self, path: &str) -> Result<FileStat, Error>;

    /// Makes a directory; with [`Dir::Whole`] also those above it, and it may be there before.
    ///
    /// # Errors
    /// As above.
    async fn mkdir(&self, path: &str, dir: Dir) -> Result<(), Error>;

    /// Deletes what a path leads to; with [`Dir::Whole`] also what is in it.
    ///
    /// # Errors
    /// As above.
    async fn delete(&self, path: &str, dir: Dir) -> Result<(), Error>;

    /// Copies a file, or a directory with all that is in it, also into another root. A file is not copied onto
    /// itself, nor a directory into itself, by whichever way.
    ///
    /// # Errors
    /// As above.
    async fn copy(&self, from: &str, to: &str) -> Result<(), Error>;

    /// Moves a file, or a directory with all that is in it: copies it, then deletes it. What is changed meanwhile
    /// stays.
    ///
    /// # Errors
    /// As above.
    async fn rename(&self, from: &str, to: &str) -> Result<(), Error>;

    /// Finds lines in files, as the device finds them.
    fn search(&self, search: Search) -> BoxStream<'static, Result<Found, Error>>;

    /// Whether a path leads anywhere.
    ///
    /// # Errors
    /// As above.
    async fn exists(&self, path: &str) -> Result<bool, Error> {
        Ok(found(self.stat(path).await)?.is_some())
    }

    /// Whether a path leads to a file.
    ///
    /// # Errors
    /// As above.
    async fn is_file(&self, path: &str) -> Result<bool, Error> {
        Ok(found(self.stat(path).await)?.is_some_and(|stat| stat.is_file))
    }

    /// Whether a path leads to a directory.
    ///
    /// # Errors
    /// As above.
    async fn is_dir(&self, path: &str) -> Result<bool, Error> {
        Ok(found(self.stat(path).await)?.is_some_and(|stat| stat.is_dir))
    }
}

/// Which bytes of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub offset: u64,
    /// How many at most; to the end if it is left out.
    pub length: Option<u64>,
}

/// How a file is written.
#[derive(Debug, Clone, Default)]
pub struct Writing {
    /// Whether it may be there before.
    pub create: CreateMode,
    /// Only if it is still like this.
    pub if_match: Option<IfMatch>,
}

/// Whether a directory is meant alone or with what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dir {
    /// Alone.
    Alone,
    /// With those above it when it is made, with what is in it when it is deleted.
    Whole,
}

/// Something that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Where.
    pub path: VirtualPath,
    /// What.
    pub entry: ListedFile,
}

/// The files of an environment.
#[derive(Debug, Clone)]
pub struct Files(pub(super) Environment);

/// Where a file is, with the path as it was said.
#[derive(Debug, Clone)]
struct At {
    root: Root,
    path: RelayPath,
    seen: VirtualPath,
    said: String,
}

impl At {
    fn root_id(&self) -> RootId {
        self.root.root_id.clone()
    }

    fn error(&self, error: RelayError) -> Error {
        Error::file(&self.said, error)
    }
}

impl Files {
    /// Where a path leads.
    ///
    /// # Errors
    /// If it leads nowhere in this environment.
    pub fn place(&self, said: &str) -> Result<Place, Error> {
        binding::find(self.0.binding(), said)
    }

    /// Where a path leads that must be in a root.
    fn at(&self, said: &str) -> Result<At, Error> {
        match self.place(said)? {
            Place::Inside { root, path, seen } => Ok(At { root, path, seen, said: said.to_owned() }),
            Place::Above { .. } => {
                let reason = "the path is above the roots of the environment".into();
                Err(Error::PathNotAllowed { path: said.to_owned(), reason })
            }
        }
    }

    /// The directories that a path means: the one that it leads to, or all roots below it.
    fn within(&self, said: &str) -> Result<Vec<At>, Error> {
        let prefix = match self.place(said)? {
            Place::Inside { root, path, seen } => {
                return Ok(vec![At { root, path, seen, said: said.to_owned() }]);
            }
            Place::Above { prefix, .. } => prefix,
        };
        let roots = self.0.binding().roots.iter();
        let below = roots.filter(|root| root.virtual_path.as_str().starts_with(&prefix));
        let at = |root: &Root| At {
            root: root.clone(),
            path: RelayPath::default(),
            seen: root.virtual_path.clone(),
            said: root.virtual_path.to_string(),
        };
        Ok(below.map(at).collect())
    }
}

#[async_trait]
impl FileOperator for Files {
    async fn read_bytes(&self, path: &str, span: Span) -> Result<Vec<u8>, Error> {
        let mut pieces = self.stream(path, span);
        let mut all = pieces.try_next().await?.unwrap_or_default();
        while let Some(piece) = pieces.try_next().await? {
            if all.len() + piece.len() > READ_BYTES_MAX {
                let error = RelayError::new(
                    RelayErrorCode::InvalidRequest,
                    "the file is too large to read at once; read it in parts",
                );
                return Err(Error::file(path, error.with("limit", READ_BYTES_MAX)));
            }
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    async fn read_text(&self, path: &str, span: Span) -> Result<String, Error> {
        let bytes = self.read_bytes(path, span).await?;
        let no_text = || {
            Error::file(
                path,
                RelayError::new(
                    RelayErrorCode::InvalidRequest,
                    "the file is not UTF-8 text; read it as bytes",
                ),
            )
        };
        reading::text(bytes, span).ok_or_else(no_text)
    }

    fn stream(&self, path: &str, span: Span) -> BoxStream<'static, Result<Vec<u8>, Error>> {
        reading::stream(&self.0, self.at(path), span)
    }

    async fn write(&self, path: &str, content: &[u8], writing: Writing) -> Result<WriteFileResult, Error> {
        writing::write(&self.0, &self.at(path)?, content, writing).await
    }

    async fn write_stream(
        &self,
        path: &str,
        content: BoxStream<'static, Result<Vec<u8>, Error>>,
    ) -> Result<(), Error> {
        writing::pour(&self.0, &self.at(path)?, content).await
    }

    async fn append(&self, path: &str, content: &[u8]) -> Result<WriteFileResult, Error> {
        writing::append(&self.0, &self.at(path)?, content).await
    }

    async fn list(&self, path: &str) -> Result<Vec<ListedFile>, Error> {
        match self.place(path)? {
            Place::Above { names, .. } => Ok(names.into_iter().map(listing::directory).collect()),
            Place::Inside { .. } => listing::list(&self.0, &self.at(path)?).await,
        }
    }

    fn walk(&self, path: &str) -> BoxStream<'static, Result<Seen, Error>> {
        listing::walk(&self.0, self.within(path))
    }

    async fn stat(&self, path: &str) -> Result<FileStat, Error> {
        if let Place::Above { .. } = self.place(path)? {
            let (kind, mtime, mode) = (EntryKind::Dir, Timestamp::UNIX_EPOCH, 0o40555);
            let (is_file, is_dir, file_id) = (false, true, None);
            return Ok(FileStat { kind, size_bytes: 0, mtime, mode, is_file, is_dir, file_id });
        }
        let at = self.at(path)?;
        let params = StatFile { root_id: at.root_id(), path: at.path.clone() };
        self.0.ask::<method::FileStat>(&params).await.map_err(|error| at.error(error))
    }

    async fn mkdir(&self, path: &str, dir: Dir) -> Result<(), Error> {
        let at = self.at(path)?;
        let params =
            MakeDirectory { root_id: at.root_id(), path: at.path.clone(), parents: dir == Dir::Whole };
        self.0.ask::<method::FileMkdir>(&params).await.map_err(|error| at.error(error))?;
        Ok(())
    }

    async fn delete(&self, path: &str, dir: Dir) -> Result<(), Error> {
        let at = self.at(path)?;
        let recursive = dir == Dir::Whole;
        let params = DeleteFile { root_id: at.root_id(), path: at.path.clone(), recursive };
        self.0.ask::<method::FileDelete>(&params).await.map_err(|error| at.error(error))?;
        Ok(())
    }

    async fn copy(&self, from: &str, to: &str) -> Result<(), Error> {
        transfer::copy(self, &self.at(from)?, &self.at(to)?).await
    }

    async fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        transfer::rename(self, &self.at(from)?, &self.at(to)?).await
    }

    fn search(&self, search: Search) -> BoxStream<'static, Result<Found, Error>> {
        search::start(&self.0, self.within(&search.path), search)
    }
}

/// What is there, if it is.
fn found<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(Error::File { error, .. }) if error.code == RelayErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
