//! Errors of unpacking an archive.

use std::io;

use rustix::io::Errno;

use crate::{FileErrorCause, FileOperation, tar_reader::TarMember};

/// Why an archive was not unpacked. After all errors but [`Error::NotUndone`] the destination is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// One member is not permitted, so nothing was unpacked.
    #[error("`{name}` in the archive is not permitted: {reason}; nothing was unpacked")]
    Refused {
        /// The member's name; invalid UTF-8 is replaced.
        name: String,
        /// The reason.
        reason: MemberRefusal,
    },
    /// The stream ended before the archive's end mark.
    #[error("the archive is incomplete; send it again")]
    Truncated,
    /// The stream is not a tar archive, or a damaged one.
    #[error("the archive is damaged: {0}")]
    Corrupt(&'static str),
    /// The archive has more members than permitted.
    #[error("the archive has more than {most} entries; split it")]
    TooManyEntries {
        /// The limit.
        most: usize,
    },
    /// The archive has more content than permitted.
    #[error("the archive contains more than {most} bytes; split it")]
    TooLarge {
        /// The limit.
        most: u64,
    },
    /// Reading the stream failed.
    #[error("could not read the archive")]
    Read(#[source] io::Error),
    /// Writing to the destination failed.
    #[error(transparent)]
    Files(#[from] crate::Error),
    /// Moving into place failed, and so did restoring the replaced files. The missing ones are in `kept`.
    #[error(
        "could not restore the previous content of `{dest}`; the missing files are in `{kept}` in that directory"
    )]
    NotUndone {
        /// The destination.
        dest: String,
        /// The hidden directory in it that contains both versions.
        kept: String,
        /// The error of the move.
        #[source]
        source: Box<Error>,
    },
}

/// Why a member of an archive is not permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MemberRefusal {
    /// It has no name.
    #[error("it has no name")]
    Unnamed,
    /// Its name starts at `/`.
    #[error("its name is absolute")]
    Absolute,
    /// Its name contains `..`.
    #[error("its name contains `..`")]
    Upwards,
    /// Its name contains a NUL byte.
    #[error("its name contains a NUL byte")]
    Nul,
    /// Its name, or a part of it, is longer than the filesystem permits.
    #[error("its name is too long")]
    TooLong,
    /// Its name has more parts than [`DEPTH_MAX`](crate::DEPTH_MAX).
    #[error("it is in too many nested directories")]
    TooDeep,
    /// It is a link that could lead out of the destination.
    #[error("it is a link that could lead out of the destination")]
    LinkEscapes,
    /// It is a hard link to something that is not a preceding file of the archive.
    #[error("it is a hard link to a file that does not precede it in the archive")]
    LinkDangles,
    /// A directory on its path is a symbolic link, in the archive or in the destination.
    #[error("a directory on its path is a symbolic link")]
    ThroughLink,
    /// It is a device or a pipe.
    #[error("it is a device or a pipe")]
    SpecialFile,
    /// It has an unsupported kind, such as a sparse file.
    #[error("entries of this kind are not supported")]
    UnsupportedKind,
    /// It is a file and the destination has a directory of that name, or the reverse.
    #[error("it is a file where a directory exists, or the reverse")]
    Conflict,
}

impl Error {
    /// Interprets a failed read of the stream: damaged or truncated gzip data appears only here.
    pub(crate) fn from_read(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Truncated,
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Self::Corrupt("it cannot be decompressed")
            }
            _ => Self::Read(error),
        }
    }
}

/// The error of one member, without its name.
#[derive(Debug)]
pub(super) enum MemberError {
    Refused(MemberRefusal),
    Failed(FileErrorCause),
    Other(Error),
}

impl MemberError {
    pub(super) fn with_name_of(self, member: &TarMember) -> Error {
        self.with_name(&String::from_utf8_lossy(&member.name))
    }

    pub(super) fn with_name(self, name: &str) -> Error {
        // Names in an archive can have any length; messages must not.
        let name = name.chars().take(300).collect();
        match self {
            Self::Refused(reason) => Error::Refused { name, reason },
            Self::Failed(cause) => {
                Error::Files(crate::Error { operation: FileOperation::Unpack, path: name, cause })
            }
            Self::Other(error) => error,
        }
    }
}

impl From<MemberRefusal> for MemberError {
    fn from(refusal: MemberRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Errno> for MemberError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NAMETOOLONG => Self::Refused(MemberRefusal::TooLong),
            errno => Self::Failed(errno.into()),
        }
    }
}

impl From<io::Error> for MemberError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.into())
    }
}
