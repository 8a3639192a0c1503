//! A child of the agent that does not want to go: it ignores every polite signal and holds the agent's output open.

use std::{
    io::{self, BufRead, BufReader},
    process::{Command, Stdio},
};

/// Ignored signals stay ignored across `exec`. It ends by itself, so that a server which forgets it leaves nothing.
const SCRIPT: &str = "trap '' TERM INT HUP PIPE; echo ready >&2; exec sleep 60 2>/dev/null";

/// Starts one; it is deaf when its process id is told.
pub(super) fn start() -> io::Result<u32> {
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT]).stdin(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let mut line = String::new();
    if let Some(stderr) = child.stderr.take() {
        BufReader::new(stderr).read_line(&mut line)?;
    }
    Ok(child.id())
}
