//! What can go wrong, on which path, and while doing what.

use std::{fmt, io};

use rustix::io::Errno;

use crate::VirtualPath;

/// A file operation that did not happen. Programs branch on [`Error::cause`], people read the sentence.
#[derive(Debug)]
pub struct Error {
    /// The verb, as in "could not *read* `/a`".
    pub doing: &'static str,
    /// The path as the caller gave it, lossily when it is not UTF-8.
    pub path: String,
    /// Why.
    pub cause: Cause,
}

/// Why a file operation did not happen.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The path, or a directory on the way to it, does not exist.
    #[error("it does not exist")]
    NotFound,
    /// A directory was needed, and something else is there.
    #[error("it is not a directory")]
    NotADirectory,
    /// A directory is where a file was needed.
    #[error("it is a directory")]
    IsADirectory,
    /// A pipe, socket or device is where a regular file was needed.
    #[error("it is not a regular file")]
    NotAFile,
    /// The name is taken.
    #[error("it already exists")]
    AlreadyExists,
    /// The directory still has entries.
    #[error("the directory is not empty")]
    NotEmpty,
    /// The user that runs this process may not do it.
    #[error("permission denied")]
    PermissionDenied,
    /// The path was led out of the tree while it was being resolved.
    #[error("it leads outside of the tree")]
    Outside,
    /// A directory would become its own descendant.
    #[error("a directory cannot be moved into itself")]
    IntoItself,
    /// The path cannot name anything here.
    #[error("the path is not valid: {reason}")]
    InvalidPath {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The disk or the quota is full.
    #[error("no space left")]
    NoSpace,
    /// The filesystem is mounted read-only.
    #[error("the filesystem is read-only")]
    ReadOnly,
    /// Links lead in a circle, or through a link of `/proc` that stands for a handle.
    #[error("too many symbolic links, or one that may not be followed")]
    TooManyLinks,
    /// The tree has more levels than [`DEPTH_MAX`](crate::DEPTH_MAX).
    #[error("the tree is too deep")]
    TooDeep,
    /// The kernel cannot keep paths inside a tree (`openat2` is missing or forbidden).
    #[error("this system cannot confine paths to a directory (openat2 is missing or forbidden)")]
    Unsupported,
    /// Whoever wanted it wants it no more: some of it may be done.
    #[error("it is no longer wanted")]
    Stopped,
    /// Anything else the system said.
    #[error("the system refused")]
    Io(#[source] io::Error),
}

impl Error {
    pub(crate) fn new(doing: &'static str, path: &VirtualPath, cause: impl Into<Cause>) -> Self {
        Self { doing, path: path.to_string(), cause: cause.into() }
    }

    /// Why, without the path: what a status code is chosen by.
    #[must_use]
    pub fn cause(&self) -> &Cause {
        &self.cause
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "could not {} `{}`: {}", self.doing, self.path, self.cause)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The sentence already holds the cause's own text; what lies behind it is next in the chain.
        std::error::Error::source(&self.cause)
    }
}

impl From<Errno> for Cause {
    /// The only place where a number of the kernel gets its meaning.
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::NotFound,
            Errno::NOTDIR => Self::NotADirectory,
            Errno::ISDIR => Self::IsADirectory,
            // Opening a socket, or a device without its driver.
            Errno::NXIO | Errno::NODEV => Self::NotAFile,
            Errno::EXIST => Self::AlreadyExists,
            Errno::NOTEMPTY => Self::NotEmpty,
            Errno::ACCESS | Errno::PERM => Self::PermissionDenied,
            // A rename across devices is handled where it happens; what is left comes from openat2.
            Errno::XDEV => Self::Outside,
            Errno::NAMETOOLONG => Self::InvalidPath { reason: "it is too long" },
            Errno::ILSEQ => Self::InvalidPath { reason: "the filesystem does not take such names" },
            // The last: more than the filesystem could hold in one file.
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Self::NoSpace,
            Errno::ROFS => Self::ReadOnly,
            Errno::LOOP => Self::TooManyLinks,
            Errno::NOSYS => Self::Unsupported,
            // No file operation of the kernel says so; ours do.
            Errno::CANCELED => Self::Stopped,
            other => Self::Io(other.into()),
        }
    }
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(errno) => errno.into(),
            None => Self::Io(error),
        }
    }
}

/// `.at("read", path)`: gives a bare error its verb and its path.
pub(crate) trait At<T> {
    fn at(self, doing: &'static str, path: &VirtualPath) -> Result<T, Error>;
}

impl<T, E: Into<Cause>> At<T> for Result<T, E> {
    fn at(self, doing: &'static str, path: &VirtualPath) -> Result<T, Error> {
        self.map_err(|cause| Error::new(doing, path, cause))
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn an_error_says_what_was_done_to_what_and_why() {
        let error = Error::new("read", &VirtualPath::root(), Errno::ISDIR);
        assert_eq!(error.to_string(), "could not read `/`: it is a directory");
        assert!(error.source().is_none());
    }

    #[test]
    fn what_has_no_name_here_keeps_the_words_of_the_system_as_its_source() {
        let error = Error::new("read", &VirtualPath::root(), io::Error::from(Errno::IO));
        assert!(matches!(error.cause(), Cause::Io(_)));
        assert!(error.source().is_some_and(|source| source.to_string().contains("Input/output")));
    }
}
