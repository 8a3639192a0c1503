//! What to run, within which limits, and how it may end.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long a child may take to end by itself before it is killed.
// Agents flush their transcript on SIGTERM; two seconds covered every one we measured.
const GRACE: Duration = Duration::from_secs(2);

/// What to run and how it may end.
#[derive(Clone)]
pub struct Spec {
    /// A path, or a name that is looked up in the child's `PATH`.
    pub program: OsString,
    /// The arguments after the program's own name.
    pub args: Vec<OsString>,
    /// Added to the environment, over what is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Variables that the child shall not inherit.
    pub env_remove: Vec<OsString>,
    /// Whether the child starts with [`Spec::env`] alone.
    pub env_clear: bool,
    /// Where it runs; `None` is where we run.
    pub cwd: Option<PathBuf>,
    /// Whether it leads a session of its own, so that it has no part in our terminal. On a terminal it always does.
    pub session: bool,
    /// Whether it ignores every signal that can be ignored: one that only waits for another in its group, which is meant.
    pub deaf: bool,
    /// Descriptors that it keeps, under the numbers that they have here.
    pub keeps: Vec<Arc<OwnedFd>>,
    /// How much of it is held in memory.
    pub limits: Limits,
    /// How long it may take to end by itself before it is killed.
    pub grace: Duration,
}

impl Spec {
    /// Runs `program` without arguments, in our directory and with our environment.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            env_remove: Vec::new(),
            env_clear: false,
            cwd: None,
            session: false,
            deaf: false,
            keeps: Vec::new(),
            limits: Limits::default(),
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

    /// Sets one variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Keeps one variable from being inherited.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.env_remove.push(name.into());
        self
    }

    /// Inherits nothing: the environment is what [`Spec::env`] says.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.env_clear = true;
        self
    }

    /// Runs it in `cwd`.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Makes it the leader of a session of its own.
    #[must_use]
    pub fn session(mut self) -> Self {
        self.session = true;
        self
    }

    /// Makes it ignore every signal that can be ignored.
    #[must_use]
    pub fn deaf(mut self) -> Self {
        self.deaf = true;
        self
    }

    /// Lets it keep a descriptor, under the number that it has here.
    #[must_use]
    pub fn keep(mut self, descriptor: Arc<OwnedFd>) -> Self {
        self.keeps.push(descriptor);
        self
    }

    /// Bounds what is held of it in memory.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Gives it this long to end by itself.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// The program, for messages.
    pub(crate) fn program_lossy(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }
}

/// Shows the names of the variables and not their values, which hold keys and tokens.
impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&OsStr> = self.env.iter().map(|(name, _)| name.as_os_str()).collect();
        f.debug_struct("Spec")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &names)
            .field("env_remove", &self.env_remove)
            .field("env_clear", &self.env_clear)
            .field("cwd", &self.cwd)
            .field("session", &self.session)
            .field("deaf", &self.deaf)
            .field("keeps", &self.keeps)
            .field("limits", &self.limits)
            .field("grace", &self.grace)
            .finish()
    }
}

/// How much of a child is held in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The longest line of stdout that is delivered; a longer one is dropped and told as too long.
    pub line_bytes_max: usize,
    /// How many bytes may wait for the child to read them. A message that meets an empty queue is always taken.
    pub stdin_queue_bytes_max: usize,
    /// How many messages may wait for the child to read them.
    pub stdin_queue_max: usize,
    /// How much of the end of stderr is kept.
    pub stderr_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // A prompt's answer may carry an image or a whole file; above this it is a fault, not a message.
            line_bytes_max: 64 << 20,
            // Sixteen full pipes: a child that is this far behind does not read.
            stdin_queue_bytes_max: 1 << 20,
            stdin_queue_max: 1024,
            // As much as a pipe holds; far more than the tail that is ever shown.
            stderr_bytes_max: 64 << 10,
        }
    }
}
