//! What can go wrong with journals on disk.

use std::{io, path::PathBuf, sync::Arc};

use rusqlite::ErrorCode;

use crate::Seq;

/// What can go wrong with journals on disk.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Another process, or another store in this one, has the file open.
    #[error("`{}` is in use by another store", .0.display())]
    Locked(PathBuf),
    /// The file was written by a newer version; it was not touched.
    #[error("`{}` has format {found}, and this version knows formats up to {known}", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format it has.
        found: i64,
        /// The newest format this version can read.
        known: i64,
    },
    /// The file is a database, but not one of journals; it was not touched.
    #[error("`{}` is a database of something else", .0.display())]
    Foreign(PathBuf),
    /// The file is damaged or no database at all; it was not touched.
    #[error("`{}` is not a readable database", .path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// The file could not be opened.
    #[error("could not open `{}`", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// The lock beside the file, or a thread for it, could not be had.
    #[error("could not prepare `{}`", .path.display())]
    Prepare {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: Arc<io::Error>,
    },
    /// Nothing of this was written.
    #[error("could not write to the journal file")]
    Write(#[source] Arc<rusqlite::Error>),
    /// It may work when tried again.
    #[error("could not read from the journal file")]
    Read(#[source] Arc<rusqlite::Error>),
    /// A frame that must be kept is not in the file.
    #[error("frame {0} is missing from the journal file")]
    Missing(Seq),
    /// The journal was deleted.
    #[error("the journal was deleted")]
    Deleted,
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// The thread that writes, or one that reads, has died.
    #[error("a thread of the store has died")]
    Died,
}

/// What is behind an error, as far as somebody can do something about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// There is no space left.
    Full,
    /// Somebody else has the file.
    Locked,
    /// The file is damaged, or not what it should be.
    Corrupt,
    /// Anything else.
    Other,
}

impl Error {
    /// What is behind it.
    pub fn cause(&self) -> Cause {
        match self {
            Error::Locked(_) => Cause::Locked,
            Error::Newer { .. } | Error::Foreign(_) | Error::Corrupt { .. } | Error::Missing(_) => {
                Cause::Corrupt
            }
            Error::Prepare { source, .. } if source.kind() == io::ErrorKind::StorageFull => Cause::Full,
            Error::Open { source, .. } | Error::Write(source) | Error::Read(source) => {
                match source.sqlite_error_code() {
                    Some(ErrorCode::DiskFull) => Cause::Full,
                    Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Cause::Locked,
                    Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Cause::Corrupt,
                    _ => Cause::Other,
                }
            }
            Error::Prepare { .. } | Error::Deleted | Error::Closed | Error::Died => Cause::Other,
        }
    }

    pub(super) fn write(source: rusqlite::Error) -> Error {
        Error::Write(Arc::new(source))
    }

    pub(super) fn read(source: rusqlite::Error) -> Error {
        Error::Read(Arc::new(source))
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[track_caller]
    fn check(code: i32, expected: Cause) {
        let error = || rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        assert_eq!([Error::write(error()).cause(), Error::read(error()).cause()], [expected; 2]);
    }

    #[test]
    fn what_somebody_can_do_something_about_is_told() {
        check(ffi::SQLITE_FULL, Cause::Full);
        check(ffi::SQLITE_BUSY, Cause::Locked);
        check(ffi::SQLITE_CORRUPT, Cause::Corrupt);
        check(ffi::SQLITE_NOTADB, Cause::Corrupt);
        check(ffi::SQLITE_IOERR, Cause::Other);
        let full = Arc::new(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(Error::Prepare { path: "x".into(), source: full }.cause(), Cause::Full);
        assert_eq!(Error::Locked("x".into()).cause(), Cause::Locked);
    }
}
