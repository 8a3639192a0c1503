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

/// The largest read into memory. Use [`FileOperator::stream`] for larger files.
pub const READ_BYTES_MAX: usize = 64 << 20;

/// The number of entries in a listing.
pub const WALK_ENTRIES_MAX: usize = 100_000;

/// Operations on files. Paths are virtual; a relative one starts at the first root.
///
/// Every method fails with [`Error::PathNotAllowed`] for a path outside of the roots, with [`Error::File`] for other errors of a
/// file, and with [`Error::Disconnected`] if the device is not connected. Dropping a future or a stream before its end cancels the
/// operation.
#[async_trait]
pub trait FileOperator: Send + Sync {
    /// Reads bytes of a file, at most [`READ_BYTES_MAX`].
    ///
    /// # Errors
    /// As above.
    async fn read_bytes(&self, path: &str, span: Span) -> Result<Vec<u8>, Error>;

    /// Reads text. A character that the span cuts is left out.
    ///
    /// # Errors
    /// As above, also if it is not text.
    async fn read_text(&self, path: &str, span: Span) -> Result<String, Error>;

    /// Reads bytes of a file of any size, in pieces.
    fn stream(&self, path: &str, span: Span) -> BoxStream<'static, Result<Vec<u8>, Error>>;

    /// Writes a whole file. Content that fits in one message is written atomically, more is written piece by piece.
    ///
    /// # Errors
    /// As above.
    async fn write(&self, path: &str, content: &[u8], writing: Writing) -> Result<WriteFileResult, Error>;

    /// Writes a whole file from a stream.
    ///
    /// # Errors
    /// As above, also if the stream fails.
    async fn write_stream(
        &self,
        path: &str,
        content: BoxStream<'static, Result<Vec<u8>, Error>>,
    ) -> Result<(), Error>;

    /// Appends to a file.
    ///
    /// # Errors
    /// As above.
    async fn append(&self, path: &str, content: &[u8]) -> Result<WriteFileResult, Error>;

    /// Lists a directory, with hidden entries.
    ///
    /// # Errors
    /// As above.
    async fn list(&self, path: &str) -> Result<Vec<ListedFile>, Error>;

    /// Lists a directory recursively.
    fn walk(&self, path: &str) -> BoxStream<'static, Result<Seen, Error>>;

    /// The metadata of a file or directory.
    ///
    /// # Errors
    /// As above.
    async fn stat(&self, path: &str) -> Result<FileStat, Error>;

    /// Creates a directory; with [`Dir::Whole`] also its parents, and without an error if it exists.
    ///
    /// # Errors
    /// As above.
    async fn mkdir(&self, path: &str, dir: Dir) -> Result<(), Error>;

    /// Deletes a file or directory; with [`Dir::Whole`] also the contents of the directory.
    ///
    /// # Errors
    /// As above.
    async fn delete(&self, path: &str, dir: Dir) -> Result<(), Error>;

    /// Copies a file, or a directory with its contents, also into another root. It refuses to copy a file onto itself or a directory
    /// into itself, also through links.
    ///
    /// # Errors
    /// As above.
    async fn copy(&self, from: &str, to: &str) -> Result<(), Error>;

    /// Moves a file, or a directory with its contents: copies it, then deletes the source, unless that has changed
    /// meanwhile.
    ///
    /// # Errors
    /// As above.
    async fn rename(&self, from: &str, to: &str) -> Result<(), Error>;

    /// Searches for lines in files, and returns matches as they are found.
    fn search(&self, search: Search) -> BoxStream<'static, Result<Found, Error>>;

    /// Whether a path exists.
    ///
    /// # Errors
    /// As above.
    async fn exists(&self, path: &str) -> Result<bool, Error> {
        Ok(found(self.stat(path).await)?.is_some())
    }

    /// Whether a path is a file.
    ///
    /// # Errors
    /// As above.
    async fn is_file(&self, path: &str) -> Result<bool, Error> {
        Ok(found(self.stat(path).await)?.is_some_and(|stat| stat.is_file))
    }

    /// Whether a path is a directory.
    ///
    /// # Errors
    /// As above.
    async fn is_dir(&self, path: &str) -> Result<bool, Error> {
        Ok(found(self.stat(path).await)?.is_some_and(|stat| stat.is_dir))
    }
}

/// A range of bytes of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub offset: u64,
    /// The maximum number of bytes; up to the end of the file if left out.
    pub length: Option<u64>,
}

/// The conditions for writing a file.
#[derive(Debug, Clone, Default)]
pub struct Writing {
    /// Whether the file may or must exist.
    pub create: CreateMode,
    /// The state that the file must still have.
    pub if_match: Option<IfMatch>,
}

/// Whether an operation applies to a directory alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dir {
    /// To the directory alone.
    Alone,
    /// Also to its parents when it is created, or to its contents when it is deleted.
    Whole,
}

/// An existing file or directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its path.
    pub path: VirtualPath,
    /// Its metadata.
    pub entry: ListedFile,
}

/// The files of an environment.
#[derive(Debug, Clone)]
pub struct Files(pub(super) Environment);

/// A resolved path, with the original one for error messages.
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
    /// Resolves a path.
    ///
    /// # Errors
    /// If it is outside of the environment.
    pub fn place(&self, said: &str) -> Result<Place, Error> {
        binding::find(self.0.binding(), said)
    }

    /// Resolves a path that must be within a root.
    fn at(&self, said: &str) -> Result<At, Error> {
        match self.place(said)? {
            Place::Inside { root, path, seen } => Ok(At { root, path, seen, said: said.to_owned() }),
            Place::Above { .. } => {
                let reason = "the path is above the roots of the environment".into();
                Err(Error::PathNotAllowed { path: said.to_owned(), reason })
            }
        }
    }

    /// The directories of a path: the one within a root, or all roots below a virtual directory.
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

/// Converts the error of a missing file to `None`.
fn found<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(Error::File { error, .. }) if error.code == RelayErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
