//! The stub agent as a child process whose pipes the floor reads and writes itself.

use std::{
    io,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use crate::kill_with_parent::kill_with_parent;

/// A running stub agent and its pipes.
pub(super) struct StubProcess {
    pub(super) child: Child,
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
}

impl StubProcess {
    pub(super) fn start(program: &Path) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        kill_with_parent(&mut command);
        let mut child = command.spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Self { child, input, output }),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}
