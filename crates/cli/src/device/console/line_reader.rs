//! Reads the lines that the user types.

use std::{
    io::{self, BufRead, Read},
    thread,
};

use rustix::termios::{QueueSelector, tcflush};
use tokio::{sync::mpsc, time::Instant};

/// How many typed lines may wait to be handled.
const LINES_MAX: usize = 16;

/// Longest line. The kernel's line discipline delivers at most 4096 bytes per line.
const LINE_BYTES_MAX: u64 = 4 << 10;

/// The lines that are typed on standard input; none without a terminal.
pub(super) struct LineReader(mpsc::Receiver<TypedLine>);

/// A line that the user typed.
#[derive(Debug)]
pub(super) struct TypedLine {
    pub(super) text: String,
    /// When the user pressed Enter. A terminal in line mode delivers nothing of a line before that.
    pub(super) entered_at: Instant,
}

impl LineReader {
    /// Reads standard input on a thread of its own, because reading blocks and cannot be cancelled. The thread ends with the
    /// program.
    pub(super) fn open(interactive: bool) -> Self {
        let (sender, lines) = mpsc::channel(LINES_MAX);
        if interactive {
            thread::spawn(move || read(&sender));
        }
        Self(lines)
    }

    /// The next line; never returns at the end of the input. Cancel safe.
    pub(super) async fn next_line(&mut self) -> TypedLine {
        match self.0.recv().await {
            Some(line) => line,
            None => std::future::pending().await,
        }
    }

    /// Discards the characters of a line that is not entered yet. They are still in the kernel's terminal buffer, and would
    /// otherwise become the beginning of the answer to a question that the user had not seen when typing them.
    pub(super) fn discard_unfinished_line(&self) {
        // Fails only if the terminal is gone, and then nothing is typed.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

fn read(sender: &mpsc::Sender<TypedLine>) {
    let mut stdin = io::stdin().lock();
    while stdin.fill_buf().is_ok_and(|typed| !typed.is_empty()) {
        let entered_at = Instant::now();
        let mut line = Vec::new();
        if (&mut stdin).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).is_err() {
            return;
        }
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        if sender.blocking_send(TypedLine { text, entered_at }).is_err() {
            return;
        }
    }
}
