//! A child process of the agent that ignores SIGTERM, SIGINT, SIGHUP and SIGPIPE, and that holds the agent's output
//! open.

use std::{
    io::{self, BufRead, BufReader},
    process::{Command, Stdio},
};

/// Ignored signals stay ignored across `exec`, so `sleep` ignores them too. It ends after a minute, so that no
/// process remains if a server fails to kill it. The line on standard error confirms that the signals are ignored.
const SCRIPT: &str = "trap '' TERM INT HUP PIPE; echo ready >&2; exec sleep 60 2>/dev/null";

/// Starts the child and returns its process id once it ignores the signals.
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
