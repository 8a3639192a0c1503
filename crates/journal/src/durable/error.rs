//! Errors of journals on disk.

use std::{io, path::PathBuf, sync::Arc};

use rusqlite::ErrorCode;

use super::disk_reserve;
use crate::Seq;

/// An error of a journal store or one of its journals.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Another process, or another store in this process, has the file open.
    #[error("`{}` is in use by another process; stop that process or use another data directory", .0.display())]
    Locked(PathBuf),
    /// The file was written by a newer version. It was not changed.
    #[error("`{}` has format {found}, but this version supports formats up to {known}; use a newer version", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format it has.
        found: i64,
        /// The newest format this version can read.
        known: i64,
    },
    /// The file is a database of another application. It was not changed.
    #[error("`{}` is a database of another application; use another data directory", .0.display())]
    Foreign(PathBuf),
    /// The file is damaged or not a database. It was not changed.
    #[error("`{}` is damaged or not a database; restore it from a backup or move it away", .path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// The file could not be opened.
    #[error("could not open `{}`", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// The lock file could not be created, or a thread could not be started.
    #[error("could not prepare the journal file `{}`", .path.display())]
    Prepare {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Arc<io::Error>,
    },
    /// A transaction failed; nothing of it was written.
    #[error("could not write to the journal file")]
    Write(#[source] Arc<rusqlite::Error>),
    /// The disk is full, and what is left of the reserve is for ending things. Servers return this before they begin something.
    #[error("the disk is full; free some space and try again")]
    Low,
    /// Reading failed; the caller may retry.
    #[error("could not read from the journal file")]
    Read(#[source] Arc<rusqlite::Error>),
    /// A frame that should be retained is not in the file.
    #[error("frame {0} is missing from the journal file, which may be damaged")]
    Missing(Seq),
    /// The journal was deleted.
    #[error("the journal was deleted")]
    Deleted,
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// The writer thread or a reading thread panicked.
    #[error("a thread of the journal store panicked; restart the process")]
    Died,
}

/// The cause of an error, as far as an operator can remove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCause {
    /// The disk is full.
    Full,
    /// Another process has the file open or locked.
    Locked,
    /// The file is damaged or has the wrong format.
    Corrupt,
    /// Anything else.
    Other,
}

impl Error {
    /// The cause of this error.
    pub fn cause(&self) -> ErrorCause {
        match self {
            Error::Locked(_) => ErrorCause::Locked,
            Error::Low => ErrorCause::Full,
            Error::Newer { .. } | Error::Foreign(_) | Error::Corrupt { .. } | Error::Missing(_) => {
                ErrorCause::Corrupt
            }
            Error::Prepare { source, .. } if source.kind() == io::ErrorKind::StorageFull => ErrorCause::Full,
            Error::Open { source, .. } | Error::Write(source) | Error::Read(source) => {
                match source.sqlite_error_code() {
                    _ if disk_reserve::is_full(source) => ErrorCause::Full,
                    Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorCause::Locked,
                    Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => ErrorCause::Corrupt,
                    _ => ErrorCause::Other,
                }
            }
            Error::Prepare { .. } | Error::Deleted | Error::Closed | Error::Died => ErrorCause::Other,
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
    fn check(code: i32, expected: ErrorCause) {
        let error = || rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        assert_eq!([Error::write(error()).cause(), Error::read(error()).cause()], [expected; 2]);
    }

    #[test]
    fn an_error_reports_the_cause_that_an_operator_can_remove() {
        check(ffi::SQLITE_FULL, ErrorCause::Full);
        check(ffi::SQLITE_IOERR_SHMSIZE, ErrorCause::Full);
        check(ffi::SQLITE_BUSY, ErrorCause::Locked);
        check(ffi::SQLITE_CORRUPT, ErrorCause::Corrupt);
        check(ffi::SQLITE_NOTADB, ErrorCause::Corrupt);
        check(ffi::SQLITE_IOERR, ErrorCause::Other);
        let full = Arc::new(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(Error::Prepare { path: "x".into(), source: full }.cause(), ErrorCause::Full);
        assert_eq!(Error::Locked("x".into()).cause(), ErrorCause::Locked);
    }
}
