//! Errors of file operations.

use std::{fmt, io};

use rustix::io::Errno;

use crate::RootedPath;

/// A failed file operation. Programs match on [`Error::cause`]; the message is for people.
#[derive(Debug)]
pub struct Error {
    /// The attempted operation.
    pub operation: FileOperation,
    /// The path as the caller passed it; invalid UTF-8 is replaced.
    pub path: String,
    /// The cause.
    pub cause: FileErrorCause,
}

/// A file operation. Its text completes "could not …".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOperation {
    /// Read a file.
    Read,
    /// Write a file.
    Write,
    /// Read the metadata of an entry.
    Inspect,
    /// List a directory.
    List,
    /// Make a directory.
    MakeDirectory,
    /// Remove an entry.
    Remove,
    /// Move an entry away from this path.
    Move,
    /// Move an entry to this path.
    MoveTo,
    /// Unpack a member of an archive.
    Unpack,
    /// Unpack an archive into this directory.
    UnpackInto,
    /// Watch for changes.
    Watch,
    /// Open a directory tree.
    OpenTree,
    /// Check a path.
    UsePath,
}

impl fmt::Display for FileOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Inspect => "inspect",
            Self::List => "list",
            Self::MakeDirectory => "make the directory",
            Self::Remove => "remove",
            Self::Move => "move",
            Self::MoveTo => "move to",
            Self::Unpack => "unpack",
            Self::UnpackInto => "unpack into",
            Self::Watch => "watch",
            Self::OpenTree => "open the tree",
            Self::UsePath => "use the path",
        })
    }
}

/// Why a file operation failed.
#[derive(Debug, thiserror::Error)]
pub enum FileErrorCause {
    /// The path, or a directory on the way, does not exist.
    #[error("it does not exist")]
    NotFound,
    /// It is not a directory, but one is required.
    #[error("it is not a directory")]
    NotADirectory,
    /// It is a directory, but a file is required.
    #[error("it is a directory")]
    IsADirectory,
    /// It is a pipe, socket or device, but a regular file is required.
    #[error("it is not a regular file")]
    NotAFile,
    /// The name is in use.
    #[error("it already exists")]
    AlreadyExists,
    /// The directory has entries.
    #[error("the directory is not empty; remove its entries first, or remove it recursively")]
    NotEmpty,
    /// The user of this process has no permission.
    #[error("permission denied for the user that runs this process")]
    PermissionDenied,
    /// The path leads out of the tree.
    #[error("it leads outside of the permitted directory")]
    Outside,
    /// The target is inside the moved directory.
    #[error("a directory cannot be moved into itself")]
    IntoItself,
    /// The path is malformed.
    #[error("the path is not valid: {reason}")]
    InvalidPath {
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// The disk or the quota is full.
    #[error("no space left; free some disk space and try again")]
    NoSpace,
    /// The filesystem is mounted read-only.
    #[error("the filesystem is read-only")]
    ReadOnly,
    /// The links form a loop, or one is a `/proc` link that stands for an open file.
    #[error("too many symbolic links, or a link of /proc, which is not followed")]
    TooManyLinks,
    /// The tree has more levels than [`DEPTH_MAX`](crate::DEPTH_MAX).
    #[error("the directory tree is too deep or too large")]
    TooDeep,
    /// The kernel cannot confine paths to a tree (`openat2` is missing or forbidden).
    #[error(
        "this system cannot confine paths to a directory: openat2 is missing (Linux before 5.6) or forbidden by seccomp"
    )]
    Unsupported,
    /// The caller cancelled the operation; a part of it may be done.
    #[error("the operation was cancelled")]
    Stopped,
    /// Another error of the system.
    #[error("the system refused")]
    Io(#[source] io::Error),
}

impl Error {
    pub(crate) fn new(operation: FileOperation, path: &RootedPath, cause: impl Into<FileErrorCause>) -> Self {
        Self { operation, path: path.to_string(), cause: cause.into() }
    }

    /// The cause without the path, for choosing a status code.
    #[must_use]
    pub fn cause(&self) -> &FileErrorCause {
        &self.cause
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "could not {} `{}`: {}", self.operation, self.path, self.cause)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The message already contains the cause's own text; the chain continues with what is behind it.
        std::error::Error::source(&self.cause)
    }
}

impl From<Errno> for FileErrorCause {
    /// The single place that interprets error numbers.
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::NotFound,
            Errno::NOTDIR => Self::NotADirectory,
            Errno::ISDIR => Self::IsADirectory,
            // Returned for a socket, or for a device without a driver.
            Errno::NXIO | Errno::NODEV => Self::NotAFile,
            Errno::EXIST => Self::AlreadyExists,
            Errno::NOTEMPTY => Self::NotEmpty,
            Errno::ACCESS | Errno::PERM => Self::PermissionDenied,
            // Renames across devices are handled where they happen; otherwise openat2 returns this for a path that leads out.
            Errno::XDEV => Self::Outside,
            Errno::NAMETOOLONG => Self::InvalidPath { reason: "it is too long" },
            Errno::ILSEQ => Self::InvalidPath { reason: "the filesystem does not accept such names" },
            // FBIG: more than the filesystem can store in one file.
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Self::NoSpace,
            Errno::ROFS => Self::ReadOnly,
            Errno::LOOP => Self::TooManyLinks,
            Errno::NOSYS => Self::Unsupported,
            // The kernel returns it for no file operation; this crate does.
            Errno::CANCELED => Self::Stopped,
            other => Self::Io(other.into()),
        }
    }
}

impl From<io::Error> for FileErrorCause {
    fn from(error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(errno) => errno.into(),
            None => Self::Io(error),
        }
    }
}

/// Adds the operation and the path to a bare error: `.at(FileOperation::Read, path)`.
pub(crate) trait ErrorContext<T> {
    fn at(self, operation: FileOperation, path: &RootedPath) -> Result<T, Error>;
}

impl<T, E: Into<FileErrorCause>> ErrorContext<T> for Result<T, E> {
    fn at(self, operation: FileOperation, path: &RootedPath) -> Result<T, Error> {
        self.map_err(|cause| Error::new(operation, path, cause))
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn an_error_names_the_operation_the_path_and_the_cause() {
        let error = Error::new(FileOperation::Read, &RootedPath::root(), Errno::ISDIR);
        assert_eq!(error.to_string(), "could not read `/`: it is a directory");
        assert!(error.source().is_none());
    }

    #[test]
    fn an_unclassified_error_keeps_the_system_error_as_its_source() {
        let error = Error::new(FileOperation::Read, &RootedPath::root(), io::Error::from(Errno::IO));
        assert!(matches!(error.cause(), FileErrorCause::Io(_)));
        assert!(error.source().is_some_and(|source| source.to_string().contains("Input/output")));
    }
}
