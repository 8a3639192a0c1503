//! The description of a child process: command, environment, limits and grace period.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The default grace period between SIGTERM and SIGKILL.
// Agents flush their transcript on SIGTERM; two seconds were enough for every agent we measured.
const GRACE: Duration = Duration::from_secs(2);

/// The description of a child process.
#[derive(Clone)]
pub struct ProcessSpec {
    /// A path, or a name that is looked up in the child's `PATH`.
    pub program: OsString,
    /// The arguments after the program name.
    pub args: Vec<OsString>,
    /// Variables that are set on top of the inherited environment.
    pub env: Vec<(OsString, OsString)>,
    /// Variables that the child does not inherit.
    pub env_remove: Vec<OsString>,
    /// Whether the child inherits no environment and gets only [`ProcessSpec::env`].
    pub env_clear: bool,
    /// The working directory; `None` is that of the parent.
    pub cwd: Option<PathBuf>,
    /// Whether the child leads a session of its own, detached from the parent's terminal. A child on a pseudo-terminal always
    /// does.
    pub new_session: bool,
    /// Whether the child ignores all signals that can be ignored. For a helper that only waits for another process in its group,
    /// which is the one that the signals are meant for.
    pub ignore_signals: bool,
    /// File descriptors that the child inherits under the same numbers.
    pub inherited_fds: Vec<Arc<OwnedFd>>,
    /// Limits on the memory that is used for the child.
    pub limits: ProcessLimits,
    /// How long the child may take to stop by itself before it is killed.
    pub grace: Duration,
}

impl ProcessSpec {
    /// Runs `program` without arguments, in the parent's directory and environment.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            env_remove: Vec::new(),
            env_clear: false,
            cwd: None,
            new_session: false,
            ignore_signals: false,
            inherited_fds: Vec::new(),
            limits: ProcessLimits::default(),
            grace: GRACE,
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds several arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Removes a variable from the inherited environment.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.env_remove.push(name.into());
        self
    }

    /// Inherits no environment.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.env_clear = true;
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Makes the child the leader of a session of its own.
    #[must_use]
    pub fn new_session(mut self) -> Self {
        self.new_session = true;
        self
    }

    /// Makes the child ignore all signals that can be ignored.
    #[must_use]
    pub fn ignore_signals(mut self) -> Self {
        self.ignore_signals = true;
        self
    }

    /// Lets the child inherit a file descriptor under the same number.
    #[must_use]
    pub fn inherit_fd(mut self, fd: Arc<OwnedFd>) -> Self {
        self.inherited_fds.push(fd);
        self
    }

    /// Sets the memory limits.
    #[must_use]
    pub fn limits(mut self, limits: ProcessLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the grace period.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// The program name for error messages.
    pub(crate) fn program_lossy(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }
}

/// Prints the names of the variables but not their values, which include keys and tokens.
impl fmt::Debug for ProcessSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&OsStr> = self.env.iter().map(|(name, _)| name.as_os_str()).collect();
        f.debug_struct("ProcessSpec")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &names)
            .field("env_remove", &self.env_remove)
            .field("env_clear", &self.env_clear)
            .field("cwd", &self.cwd)
            .field("new_session", &self.new_session)
            .field("ignore_signals", &self.ignore_signals)
            .field("inherited_fds", &self.inherited_fds)
            .field("limits", &self.limits)
            .field("grace", &self.grace)
            .finish()
    }
}

/// Limits on the memory that is used for one child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessLimits {
    /// The maximum length of a stdout line. A longer line is dropped and reported as too long.
    pub line_bytes_max: usize,
    /// The maximum number of bytes queued for stdin. A message is always accepted while the queue is empty.
    pub stdin_queue_bytes_max: usize,
    /// The maximum number of messages queued for stdin.
    pub stdin_queue_max: usize,
    /// The number of bytes that are retained from the end of stderr.
    pub stderr_bytes_max: usize,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            // An answer to a prompt may carry an image or a whole file; a longer line is a fault, not a message.
            line_bytes_max: 64 << 20,
            // Sixteen pipe buffers: a child this far behind has stopped reading.
            stdin_queue_bytes_max: 1 << 20,
            stdin_queue_max: 1024,
            // The size of a pipe buffer, and far more than the tail that is ever shown.
            stderr_bytes_max: 64 << 10,
        }
    }
}
