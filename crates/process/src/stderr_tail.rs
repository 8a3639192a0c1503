//! The end of the child's stderr, for error messages.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::output_source::OutputSource;

/// The maximum size of the stderr tail.
// It fits into the detail of a problem document.
pub const STDERR_TAIL_BYTES: usize = 4 << 10;

/// A quarter of a pipe: heavy output takes few reads, and a silent child costs little memory.
const READ_BYTES: usize = 16 << 10;

/// Drains stderr to its end, so that the child never blocks on it.
pub(crate) async fn collect(mut source: OutputSource, tail: Arc<Mutex<StderrTail>>) {
    let mut buffer = Vec::with_capacity(READ_BYTES);
    while source.read(&mut buffer).await > 0 {
        tail.lock().push(&buffer);
        buffer.clear();
    }
}

/// The last bytes of a stream.
#[derive(Debug)]
pub(crate) struct StderrTail {
    bytes: VecDeque<u8>,
    bytes_max: usize,
    /// Whether bytes were dropped, so that the first line may be incomplete.
    cut: bool,
}

impl StderrTail {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes: VecDeque::new(), bytes_max, cut: false }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let retained = &bytes[bytes.len().saturating_sub(self.bytes_max)..];
        let excess = (self.bytes.len() + retained.len()).saturating_sub(self.bytes_max);
        self.cut |= excess > 0 || retained.len() < bytes.len();
        self.bytes.drain(..excess);
        self.bytes.extend(retained);
    }

    /// The last [`STDERR_TAIL_BYTES`] as text, starting with a complete line if possible.
    pub(crate) fn tail(&self) -> String {
        let start = self.bytes.len().saturating_sub(STDERR_TAIL_BYTES);
        let tail: Vec<u8> = self.bytes.range(start..).copied().collect();
        let whole = match memchr::memchr(b'\n', &tail) {
            Some(end) if (self.cut || start > 0) && end + 1 < tail.len() => &tail[end + 1..],
            _ => &tail[..],
        };
        String::from_utf8_lossy(whole).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes_max: usize, pushes: &[&str], expected: &str) {
        let mut ring = StderrTail::new(bytes_max);
        for push in pushes {
            ring.push(push.as_bytes());
        }
        assert_eq!(ring.tail(), expected);
    }

    #[test]
    fn the_tail_consists_of_the_last_complete_lines() {
        check(100, &[], "");
        check(100, &["one\n", "two\n"], "one\ntwo");
        check(8, &["one\ntwo\nthree\n"], "three");
        check(8, &["one\n", "two\n", "three\n"], "three");
        check(4, &["abcdefgh"], "efgh");
        check(4, &["abcdefgh\n"], "fgh");
        let long = format!("{}\nlast\n", "x".repeat(STDERR_TAIL_BYTES));
        check(1 << 20, &[&long], "last");
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        let mut ring = StderrTail::new(100);
        ring.push(b"a\xff\0b");
        assert_eq!(ring.tail(), "a\u{fffd}\0b");
    }

    #[test]
    fn memory_stays_within_the_limit() {
        let mut ring = StderrTail::new(1000);
        (0..1000).for_each(|_| ring.push(&[b'x'; 999]));
        assert!(ring.bytes.len() == 1000 && ring.bytes.capacity() < 4000);
    }
}
