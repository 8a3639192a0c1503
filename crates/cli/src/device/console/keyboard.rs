//! What is typed, line by line.

use std::{
    io::{self, BufRead, Read},
    thread,
};

use rustix::termios::{QueueSelector, tcflush};
use tokio::{sync::mpsc, time::Instant};

/// How many lines may be typed ahead.
const LINES_MAX: usize = 16;

/// The longest line that is read; the kernel has none longer.
const LINE_BYTES_MAX: u64 = 4 << 10;

/// Standard input, if somebody sits there.
pub(super) struct Keyboard(mpsc::Receiver<Line>);

/// A line that was typed.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) text: String,
    /// When the first of it came, which is when it was ended, as a terminal keeps a line until then.
    pub(super) at: Instant,
}

impl Keyboard {
    /// Reads what is typed, on a thread of its own, as that blocks; it ends with the program.
    pub(super) fn open(attended: bool) -> Self {
        let (sender, lines) = mpsc::channel(LINES_MAX);
        if attended {
            thread::spawn(move || read(&sender));
        }
        Self(lines)
    }

    /// The next line. Cancel safe.
    pub(super) async fn line(&mut self) -> Line {
        match self.0.recv().await {
            Some(line) => line,
            None => std::future::pending().await,
        }
    }

    /// Drops what was typed so far of a line that has not ended.
    pub(super) fn drop_begun(&self) {
        // Who has gone away types nothing.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

fn read(sender: &mpsc::Sender<Line>) {
    let mut stdin = io::stdin().lock();
    while stdin.fill_buf().is_ok_and(|typed| !typed.is_empty()) {
        let at = Instant::now();
        let mut line = Vec::new();
        if (&mut stdin).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).is_err() {
            return;
        }
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        if sender.blocking_send(Line { text, at }).is_err() {
            return;
        }
    }
}
