//! Asks on the terminal whether an answer is sent, after all of the request was shown.

use std::io::{self, BufRead, IsTerminal, Write};

use rustix::termios::{QueueSelector, tcflush};
use tokio::{task, time::sleep};

use crate::{exit::CommandError, reading_time::READING_TIME};

const PROMPT: &str = "send this answer? [y]es [n]o > ";

/// Whether a user reads and types here.
pub(super) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Shows the text and waits for a `y`. Returns `false` for an `n` and at the end of the input.
pub(super) async fn confirm(text: &str) -> Result<bool, CommandError> {
    write(text);
    // A line that is typed before the text could be read does not count.
    discard_typed_lines();
    sleep(READING_TIME).await;
    discard_typed_lines();
    Ok(task::spawn_blocking(read_confirmation).await.map_err(io::Error::other)??)
}

fn read_confirmation() -> io::Result<bool> {
    loop {
        write(PROMPT);
        let mut line = String::new();
        let is_end = io::stdin().lock().read_line(&mut line)? == 0;
        match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ if is_end => return Ok(false),
            _ => {}
        }
    }
}

fn discard_typed_lines() {
    // Fails only if the terminal is gone, and then nothing is typed.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
}

fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    // If standard error is closed, there is nowhere to report that.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
