//! Why a child could not be started, in words that say what to do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::Spec;

/// What can go wrong with a child.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be started.
    #[error("could not start `{program}`: {reason}")]
    Spawn {
        /// What was to run.
        program: String,
        /// What is in the way.
        reason: Reason,
        /// What the system said.
        source: io::Error,
    },
    /// It has exited, so nothing can be done to it any more.
    #[error("the process has exited")]
    Exited,
    /// The system refused to signal it or to change its terminal.
    #[error("could not {action} the process")]
    Refused {
        /// What we tried to do to it.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// Finds out which of several causes with the same error number it was.
    pub(crate) fn spawn(spec: &Spec, source: io::Error) -> Self {
        Self::Spawn { program: spec.program_lossy(), reason: Reason::find(spec, &source), source }
    }
}

/// What is in the way of starting a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// No such file, or no such name in `PATH`.
    NotFound,
    /// It is there, but may not be run.
    NotExecutable,
    /// It is a script whose first line names an interpreter that is not there.
    NoInterpreter,
    /// The directory to run it in is not there, or is not a directory.
    NoDirectory(PathBuf),
    /// Something else: see the source.
    Other,
}

impl Reason {
    fn find(spec: &Spec, source: &io::Error) -> Self {
        if let Some(cwd) = &spec.cwd
            && !cwd.is_dir()
        {
            return Self::NoDirectory(cwd.clone());
        }
        match source.kind() {
            io::ErrorKind::NotFound if is_path(spec) && location(spec).is_file() => Self::NoInterpreter,
            io::ErrorKind::NotFound => Self::NotFound,
            // "Exec format error" (8): a text without `#!`, or a program for another machine.
            io::ErrorKind::PermissionDenied => Self::NotExecutable,
            _ if source.raw_os_error() == Some(libc::ENOEXEC) => Self::NotExecutable,
            _ => Self::Other,
        }
    }
}

fn is_path(spec: &Spec) -> bool {
    Path::new(&spec.program).components().count() > 1
}

/// A relative program is looked up from the child's directory.
fn location(spec: &Spec) -> PathBuf {
    match &spec.cwd {
        Some(cwd) => cwd.join(&spec.program),
        None => PathBuf::from(&spec.program),
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("no such program"),
            Self::NotExecutable => f.write_str("it is not executable"),
            Self::NoInterpreter => f.write_str("the interpreter named in its first line does not exist"),
            Self::NoDirectory(cwd) => write!(f, "`{}` is not a directory to run it in", cwd.display()),
            Self::Other => f.write_str("the system refused"),
        }
    }
}
