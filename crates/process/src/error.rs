//! Why a child could not be started or controlled.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::ProcessSpec;

/// An error of a child process.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be started.
    #[error("could not start `{program}`: {reason}")]
    Spawn {
        /// The program.
        program: String,
        /// The reason.
        reason: SpawnFailure,
        /// The system's error.
        source: io::Error,
    },
    /// It has exited and cannot be signalled any more.
    #[error("the process has exited")]
    Exited,
    /// The system refused to signal it or to resize its terminal.
    #[error("could not {action} the process")]
    Refused {
        /// The attempted action, as a verb.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    /// Determines the reason: several causes share one error number.
    pub(crate) fn spawn(spec: &ProcessSpec, source: io::Error) -> Self {
        Self::Spawn { program: spec.program_lossy(), reason: SpawnFailure::determine(spec, &source), source }
    }
}

/// Why a program could not be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpawnFailure {
    /// There is no such file, or no such name in `PATH`.
    NotFound,
    /// The file exists but is not executable.
    NotExecutable,
    /// The script's first line names an interpreter that does not exist.
    NoInterpreter,
    /// The working directory does not exist or is not a directory.
    NoDirectory(PathBuf),
    /// Another reason; see the source.
    Other,
}

impl SpawnFailure {
    fn determine(spec: &ProcessSpec, source: &io::Error) -> Self {
        if let Some(cwd) = &spec.cwd
            && !cwd.is_dir()
        {
            return Self::NoDirectory(cwd.clone());
        }
        match source.kind() {
            io::ErrorKind::NotFound if is_path(spec) && location(spec).is_file() => Self::NoInterpreter,
            io::ErrorKind::NotFound => Self::NotFound,
            // ENOEXEC: a text file without `#!`, or a program for another architecture.
            io::ErrorKind::PermissionDenied => Self::NotExecutable,
            _ if source.raw_os_error() == Some(libc::ENOEXEC) => Self::NotExecutable,
            _ => Self::Other,
        }
    }
}

fn is_path(spec: &ProcessSpec) -> bool {
    Path::new(&spec.program).components().count() > 1
}

/// The program's path; a relative one starts at the child's working directory.
fn location(spec: &ProcessSpec) -> PathBuf {
    match &spec.cwd {
        Some(cwd) => cwd.join(&spec.program),
        None => PathBuf::from(&spec.program),
    }
}

impl fmt::Display for SpawnFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("no such program; install it or check PATH"),
            Self::NotExecutable => {
                f.write_str("the file is not an executable program; check its permissions and format")
            }
            Self::NoInterpreter => f.write_str(
                "the interpreter in its first line does not exist; install it or correct the line",
            ),
            Self::NoDirectory(cwd) => write!(f, "the working directory `{}` does not exist", cwd.display()),
            Self::Other => f.write_str("the system refused to run it"),
        }
    }
}
