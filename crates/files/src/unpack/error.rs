//! Why an archive was not unpacked.

use std::io;

use rustix::io::Errno;

use crate::{Cause, archive::Member};

/// Why an archive was not unpacked. After all but [`Error::NotUndone`] the destination is as it was.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// One member may not be unpacked, so none is.
    #[error("`{name}` in the archive was refused: {reason}")]
    Refused {
        /// The member, lossily.
        name: String,
        /// What is wrong with it.
        reason: Refusal,
    },
    /// The stream ended before the archive's end mark.
    #[error("the archive is cut off")]
    Truncated,
    /// The stream is no archive, or a damaged one.
    #[error("the archive is damaged: {0}")]
    Corrupt(&'static str),
    /// The archive has more members than allowed.
    #[error("the archive has more than {most} entries")]
    TooManyEntries {
        /// How many are allowed.
        most: usize,
    },
    /// The archive holds more bytes than allowed.
    #[error("the archive holds more than {most} bytes")]
    TooLarge {
        /// How many are allowed.
        most: u64,
    },
    /// The archive could not be received.
    #[error("could not read the archive")]
    Read(#[source] io::Error),
    /// The destination could not be written.
    #[error(transparent)]
    Files(#[from] crate::Error),
    /// Moving into place failed, and so did putting back what was there. What is missing lies in `kept`.
    #[error("could not put back what was in `{dest}` before; it is kept in `{kept}` there")]
    NotUndone {
        /// The destination.
        dest: String,
        /// The hidden directory in it that holds both versions.
        kept: String,
        /// Why the move had failed.
        #[source]
        source: Box<Error>,
    },
}

/// What is wrong with a member of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
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
    /// Its name, or a part of it, is longer than the filesystem takes.
    #[error("its name is too long")]
    TooLong,
    /// Its name has more parts than [`DEPTH_MAX`](crate::DEPTH_MAX).
    #[error("it lies too deep")]
    TooDeep,
    /// It is a link that could lead out of the destination.
    #[error("it is a link that could lead out of the destination")]
    LinkEscapes,
    /// It is a hard link to something that is no file of this archive.
    #[error("it is a hard link to no file of the archive before it")]
    LinkDangles,
    /// A directory on its way is a symbolic link, in the archive or in the destination.
    #[error("a directory on its way is a link")]
    ThroughLink,
    /// It is a device or a pipe.
    #[error("it is a device or a pipe")]
    SpecialFile,
    /// It is of a kind that is not unpacked here, such as a file with holes.
    #[error("entries of its kind are not unpacked")]
    UnsupportedKind,
    /// A file is where it is a directory, or the reverse.
    #[error("there is a file where it is a directory, or the reverse")]
    Conflict,
}

impl Error {
    /// What a failed read of the stream means: a damaged gzip, or one that ends early, shows only here.
    pub(crate) fn from_read(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Truncated,
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Self::Corrupt("it does not decompress")
            }
            _ => Self::Read(error),
        }
    }
}

/// Why one member failed, before its name is added.
#[derive(Debug)]
pub(super) enum Fault {
    Refused(Refusal),
    Failed(Cause),
    Other(Error),
}

impl Fault {
    pub(super) fn of(self, member: &Member) -> Error {
        self.named(&String::from_utf8_lossy(&member.name))
    }

    pub(super) fn named(self, name: &str) -> Error {
        // Names in an archive may be as long as it likes; a message may not.
        let name = name.chars().take(300).collect();
        match self {
            Self::Refused(reason) => Error::Refused { name, reason },
            Self::Failed(cause) => Error::Files(crate::Error { doing: "unpack", path: name, cause }),
            Self::Other(error) => error,
        }
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NAMETOOLONG => Self::Refused(Refusal::TooLong),
            errno => Self::Failed(errno.into()),
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.into())
    }
}
