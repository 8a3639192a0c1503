//! The end of what the child complained about: read without a pause, kept within a limit.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::outlet::Outlet;

/// How much of stderr is shown at most.
// What fits into a problem's detail and is still read by someone.
pub const STDERR_TAIL_BYTES: usize = 4 << 10;

/// A quarter of a pipe: a flood is read in few calls, and a silent child costs little.
const READ_BYTES: usize = 16 << 10;

/// Reads stderr to its end, so that the child never waits for us.
pub(crate) async fn collect(mut outlet: Outlet, ring: Arc<Mutex<Ring>>) {
    let mut buffer = Vec::with_capacity(READ_BYTES);
    while outlet.read(&mut buffer).await > 0 {
        ring.lock().push(&buffer);
        buffer.clear();
    }
}

/// The last bytes of a stream.
#[derive(Debug)]
pub(crate) struct Ring {
    bytes: VecDeque<u8>,
    bytes_max: usize,
    /// Whether something was dropped, so that the first line may lack its beginning.
    cut: bool,
}

impl Ring {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes: VecDeque::new(), bytes_max, cut: false }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let kept = &bytes[bytes.len().saturating_sub(self.bytes_max)..];
        let excess = (self.bytes.len() + kept.len()).saturating_sub(self.bytes_max);
        self.cut |= excess > 0 || kept.len() < bytes.len();
        self.bytes.drain(..excess);
        self.bytes.extend(kept);
    }

    /// The last [`STDERR_TAIL_BYTES`] as text, from the beginning of a line if there is one.
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
        let mut ring = Ring::new(bytes_max);
        for push in pushes {
            ring.push(push.as_bytes());
        }
        assert_eq!(ring.tail(), expected);
    }

    #[test]
    fn a_tail_is_the_last_whole_lines() {
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
    fn what_is_not_text_is_shown_as_well_as_it_can_be() {
        let mut ring = Ring::new(100);
        ring.push(b"a\xff\0b");
        assert_eq!(ring.tail(), "a\u{fffd}\0b");
    }

    #[test]
    fn a_flood_stays_within_the_limit() {
        let mut ring = Ring::new(1000);
        (0..1000).for_each(|_| ring.push(&[b'x'; 999]));
        assert!(ring.bytes.len() == 1000 && ring.bytes.capacity() < 4000);
    }
}
