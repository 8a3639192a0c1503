//! Reads the stderr of a child process while the process runs.

use std::{collections::VecDeque, io::Read, process::ChildStderr, thread::JoinHandle};

/// How much of the output is kept, the newest part. The longest tests log less than 1 MiB; the limit is for a process
/// that logs in an endless loop, which must not use up the memory of the machine.
const STDERR_BYTES_MAX: usize = 16 << 20;

/// The most that one read returns: the capacity of a Linux pipe.
const READ_BYTES: usize = 64 << 10;

/// A thread that reads a pipe until its end. Without it the process would block once it has written more than the pipe
/// holds (64 KiB).
#[derive(Debug)]
pub(crate) struct StderrCapture(JoinHandle<OutputTail>);

impl StderrCapture {
    pub(crate) fn start(pipe: ChildStderr) -> Self {
        Self(std::thread::spawn(|| OutputTail::read(pipe, STDERR_BYTES_MAX)))
    }

    /// Waits until all processes that write to the pipe have ended, and returns their output.
    pub(crate) fn finish(self) -> String {
        self.0.join().expect("the thread that reads stderr panicked").into_text()
    }
}

/// The newest part of an output.
#[derive(Debug, Default)]
struct OutputTail {
    bytes: VecDeque<u8>,
    /// The number of bytes that were discarded before `bytes`.
    discarded: usize,
}

impl OutputTail {
    /// Reads `pipe` to its end. A read error counts as the end.
    fn read(mut pipe: impl Read, bytes_max: usize) -> Self {
        let mut tail = Self::default();
        let mut buffer = vec![0; READ_BYTES];
        while let Ok(read @ 1..) = pipe.read(&mut buffer) {
            tail.bytes.extend(&buffer[..read]);
            let excess = tail.bytes.len().saturating_sub(bytes_max);
            tail.bytes.drain(..excess);
            tail.discarded += excess;
        }
        tail
    }

    /// The output as text. A first line reports discarded bytes, so that a test does not mistake the rest for all of it.
    fn into_text(self) -> String {
        let bytes = Vec::from(self.bytes);
        let text = String::from_utf8_lossy(&bytes);
        match self.discarded {
            0 => text.into_owned(),
            discarded => format!("[{discarded} earlier bytes were discarded]\n{text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_output_is_kept_and_the_rest_is_reported() {
        let text = |bytes_max| OutputTail::read(&b"first second"[..], bytes_max).into_text();
        assert_eq!(text(12), "first second");
        assert_eq!(text(6), "[6 earlier bytes were discarded]\nsecond");
    }
}
