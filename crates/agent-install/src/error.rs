//! Why something could not be installed.

use std::{io, sync::Arc, time::Duration};

use super::npm;
use agent_catalog::{ComponentName, InvalidCatalog, Platform, UnknownPlatform};

/// Why a component or an agent could not be installed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Nothing may be installed here.
    #[error(
        "`{0}` is not installed, and installation is turned off; install it yourself, or start the daemon without --no-install"
    )]
    Forbidden(ComponentName),
    /// No source has it for this machine.
    #[error(
        "Tombolo cannot install `{component}` on {platform}; install it yourself and make sure it is on PATH"
    )]
    Unsupported {
        /// What was to be installed.
        component: ComponentName,
        /// This machine.
        platform: Platform,
    },
    /// Nothing exists for this machine.
    #[error(transparent)]
    Platform(#[from] UnknownPlatform),
    /// Every source failed.
    #[error("could not install `{component}`: {}", told(attempts))]
    Failed {
        /// What was to be installed.
        component: ComponentName,
        /// What was tried, and why each failed.
        attempts: Vec<Attempt>,
    },
    /// No source had a checksum to verify it with, and unverified files are not allowed.
    #[error(
        "could not verify `{component}`, so it was not installed: {}; to install it without verification, pass \
         --allow-unverified to `tombolo agents install`, or set `allowUnverified` in the install request",
        told(attempts)
    )]
    Unverified {
        /// What was to be installed.
        component: ComponentName,
        /// What was tried, and why each failed.
        attempts: Vec<Attempt>,
    },
    /// There is no room for it.
    #[error("not enough disk space to install `{0}`; free some space and try again")]
    NoSpace(ComponentName),
    /// The place where it is kept cannot be used.
    #[error("could not {doing}")]
    Store {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: Arc<io::Error>,
    },
    /// The installation was ended with the daemon.
    #[error("the installation of `{0}` was cancelled because the daemon is shutting down")]
    Ended(ComponentName),
}

impl Error {
    pub(crate) fn store(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Store { doing, source: Arc::new(source) }
    }

    /// The failure of every source.
    ///
    /// A wrong checksum may be an attack. Such a failure is never reported as [`Error::Unverified`], whose message
    /// suggests to go on without verification.
    pub(crate) fn of_attempts(component: ComponentName, attempts: Vec<Attempt>) -> Self {
        let any = |is: fn(&Fault) -> bool| attempts.iter().any(|attempt| is(&attempt.fault));
        if any(|fault| matches!(fault, Fault::Unverified(_)))
            && !any(|fault| matches!(fault, Fault::Checksum { .. }))
        {
            Self::Unverified { component, attempts }
        } else {
            Self::Failed { component, attempts }
        }
    }

    /// Everything that was tried.
    pub fn attempts(&self) -> &[Attempt] {
        match self {
            Error::Failed { attempts, .. } | Error::Unverified { attempts, .. } => attempts,
            _ => &[],
        }
    }

    /// Whether it, or something that it needs, was refused because it cannot be verified.
    pub fn is_unverified(&self) -> bool {
        let is_unverified = |attempt: &Attempt| match &*attempt.fault {
            Fault::Needs(error) => error.is_unverified(),
            _ => false,
        };
        matches!(self, Error::Unverified { .. }) || self.attempts().iter().any(is_unverified)
    }
}

fn told(attempts: &[Attempt]) -> String {
    let told: Vec<_> = attempts.iter().map(|tried| format!("{}: {}", tried.from, tried.fault)).collect();
    told.join("; ")
}

/// A source that was tried and failed.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The source.
    pub from: String,
    /// Why it failed.
    pub fault: Arc<Fault>,
}

/// Why one source failed.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The server could not be reached, or was lost too often.
    #[error("{host} cannot be reached: {reason}")]
    Unreachable {
        /// The server.
        host: String,
        /// Why not.
        reason: String,
    },
    /// The server said no.
    #[error("{host} answered with status {status}")]
    Status {
        /// The server.
        host: String,
        /// What it said.
        status: u16,
    },
    /// The server fell silent.
    #[error("{host} did not answer within {waited:?}")]
    Silent {
        /// The server.
        host: String,
        /// How long it was given.
        waited: Duration,
    },
    /// What came ended too early, or was cut too often.
    #[error("received only {got} of {expected} bytes")]
    Truncated {
        /// What came.
        got: u64,
        /// What was said to come.
        expected: u64,
    },
    /// It is too large.
    #[error("the download is larger than the limit of {most} bytes")]
    TooLarge {
        /// The limit.
        most: u64,
    },
    /// Nothing came.
    #[error("the download is empty")]
    Empty,
    /// There is no checksum to verify it with, and unverified files are not allowed.
    #[error("it cannot be verified: {0}")]
    Unverified(MissingChecksum),
    /// It is not what was published.
    #[error("checksum mismatch: expected {expected}, got {found}")]
    Checksum {
        /// What was published.
        expected: String,
        /// What came.
        found: String,
    },
    /// The answer makes no sense.
    #[error("could not parse the response: {0}")]
    Answer(String),
    /// There is no such version.
    #[error("version {version} of {package} does not exist")]
    NoVersion {
        /// The package.
        package: String,
        /// The version.
        version: String,
    },
    /// The newest version cannot be found out.
    #[error("the source does not name its latest version")]
    NoLatest,
    /// It is not for this machine.
    #[error("the source has no build for {0}")]
    Platform(Platform),
    /// npm is not configured.
    #[error(transparent)]
    Npm(#[from] npm::ConfigError),
    /// The archive cannot be unpacked.
    #[error("could not unpack it: {0}")]
    Unpack(String),
    /// The program is not in it.
    #[error("the archive does not contain the program `{0}`")]
    NoProgram(String),
    /// The program in it has no content.
    #[error("the program `{0}` in the archive is an empty file")]
    EmptyProgram(String),
    /// Another program failed.
    #[error("`{program}` failed{}: {said}", code.map(|code| format!(" with code {code}")).unwrap_or_default())]
    Tool {
        /// The program.
        program: String,
        /// How it ended.
        code: Option<i32>,
        /// Its last words.
        said: String,
    },
    /// What it needs could not be installed.
    #[error("a dependency could not be installed: {0}")]
    Needs(#[source] Arc<Error>),
    /// The disk is full.
    #[error("not enough disk space")]
    NoSpace,
    /// Something on this side could not be read or written.
    #[error("could not {doing}: {source}")]
    Local {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The registry is not what it should be.
    #[error(transparent)]
    Catalog(#[from] InvalidCatalog),
}

impl Fault {
    /// A failure to do something on this side; a full disk is told as such.
    pub(crate) fn local(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace,
            _ => Self::Local { doing, source },
        }
    }

    /// Whether the same may work in a moment.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Fault::Unreachable { .. } | Fault::Silent { .. } | Fault::Truncated { .. } => true,
            Fault::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599),
            _ => false,
        }
    }
}

/// Why there is no checksum to verify something with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MissingChecksum {
    /// The catalog neither pins a checksum nor knows where one is published.
    #[error("its vendor publishes no checksum")]
    NotPublished,
    /// The vendor's document of checksums is not there.
    #[error("{host} has no checksums for this version")]
    NoDocument {
        /// The server.
        host: String,
    },
    /// The vendor's document has no checksum for this platform, or one that is not a SHA-256.
    #[error("{host} publishes no SHA-256 for this platform")]
    NoUsableEntry {
        /// The server.
        host: String,
    },
    /// The npm registry has neither `integrity` nor `shasum` in a form that is known.
    #[error("the npm registry publishes no usable checksum for {package}")]
    Npm {
        /// The package.
        package: String,
    },
    /// It was installed without verification where the bundle was made.
    #[error("the bundle says that `{0}` was never verified; pass --allow-unverified to install it anyway")]
    Bundled(ComponentName),
}

/// Why a bundle could not be written or installed.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// What it holds could not be installed.
    #[error(transparent)]
    Install(#[from] Arc<Error>),
    /// It could not be read or written.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Why an agent cannot be started, even though what it lacks was to be installed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ReadyError {
    /// It could not be installed.
    #[error(transparent)]
    Install(#[from] Arc<Error>),
    /// It cannot be started.
    #[error(transparent)]
    Launch(Arc<agent_catalog::Error>),
}

impl From<agent_catalog::Error> for ReadyError {
    fn from(error: agent_catalog::Error) -> Self {
        Self::Launch(Arc::new(error))
    }
}
