//! Splits a byte stream into lines, within a memory limit and independently of how the bytes are divided into reads.

use std::mem;

#[cfg(test)]
mod tests;

/// The size of one read.
// The capacity of a pipe. With 8 KiB, 10 KB lines had 20 % less throughput and used 1.5 times the CPU.
pub const READ_BYTES: usize = 64 << 10;

/// A buffer that grew beyond this for a long line is shrunk afterwards.
const KEEP_BYTES_MAX: usize = 4 * READ_BYTES;

/// Splits a stream of bytes into lines.
///
/// In turns, append bytes to [`LineFramer::space`] and take the complete lines with [`LineFramer::chunk`]; at the end call
/// [`LineFramer::finish`] and take the rest. A line may contain any bytes except `\n`; one `\r` before the `\n` is removed. A
/// line over the limit is discarded as it arrives, so that memory stays within the limit plus one read.
#[derive(Debug)]
pub struct LineFramer {
    buffer: Vec<u8>,
    /// The bytes at the front of the buffer that were already returned.
    taken: usize,
    /// The end of the last complete line.
    complete: usize,
    /// The end of the part that was searched for line ends.
    scanned: usize,
    /// The length so far of an overlong line that is being discarded.
    dropping: Option<u64>,
    /// The length of a discarded line that has ended; it precedes all lines in the buffer.
    dropped: Option<u64>,
    line_bytes_max: usize,
}

impl LineFramer {
    /// Returns lines of up to `line_bytes_max` bytes, not counting the `\n`.
    pub fn new(line_bytes_max: usize) -> Self {
        Self {
            buffer: Vec::new(),
            taken: 0,
            complete: 0,
            scanned: 0,
            dropping: None,
            dropped: None,
            line_bytes_max,
        }
    }

    /// The buffer to append to, with room for at least [`READ_BYTES`]. Lines that were not taken are discarded.
    pub fn space(&mut self) -> &mut Vec<u8> {
        let _ = self.chunk();
        self.release();
        let (length, capacity) = (self.buffer.len(), self.buffer.capacity());
        if capacity - length < READ_BYTES {
            // Doubling keeps the copying for a long line linear; the limit keeps it from doubling beyond the longest line.
            let most = self.line_bytes_max.saturating_add(2 * READ_BYTES);
            let target = (capacity * 2).min(most).max(length + READ_BYTES);
            self.buffer.reserve_exact(target - length);
        }
        &mut self.buffer
    }

    /// Discards the lines that were returned, and shrinks a buffer that grew for a long line.
    pub fn release(&mut self) {
        if self.taken > 0 {
            self.buffer.drain(..self.taken);
            self.complete -= self.taken;
            self.scanned -= self.taken;
            self.taken = 0;
        }
        if self.buffer.capacity() > KEEP_BYTES_MAX && self.buffer.len() <= READ_BYTES {
            self.buffer.shrink_to(2 * READ_BYTES);
        }
    }

    /// All complete lines that were not returned yet. They count as returned even if the caller does not iterate over them.
    pub fn chunk(&mut self) -> LineChunk<'_> {
        self.scan();
        let rest = &self.buffer[self.taken..self.complete];
        self.taken = self.complete;
        LineChunk { dropped: self.dropped.take(), rest, line_bytes_max: self.line_bytes_max }
    }

    /// Whether [`LineFramer::chunk`] would return a line.
    pub fn is_ready(&mut self) -> bool {
        self.scan();
        self.dropped.is_some() || self.complete > self.taken
    }

    /// Treats the remaining bytes without a `\n` as a line, at the end of the stream.
    pub fn finish(&mut self) {
        self.scan();
        if let Some(bytes) = self.dropping.take() {
            self.dropped = Some(bytes);
        }
        self.complete = self.buffer.len();
    }

    /// The allocated size of the buffer.
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Searches the bytes that were appended since the last call.
    fn scan(&mut self) {
        if self.scanned == self.buffer.len() {
            return;
        }
        if let Some(bytes) = self.dropping {
            // While a line is discarded, the buffer holds nothing of it; the new bytes start at `scanned`.
            let Some(end) = memchr::memchr(b'\n', &self.buffer[self.scanned..]) else {
                self.dropping = Some(bytes + (self.buffer.len() - self.scanned) as u64);
                self.buffer.truncate(self.scanned);
                return;
            };
            self.dropping = None;
            self.dropped = Some(bytes + end as u64);
            self.buffer.drain(self.scanned..=self.scanned + end);
        }
        if let Some(end) = memchr::memrchr(b'\n', &self.buffer[self.scanned..]) {
            self.complete = self.scanned + end + 1;
        }
        self.scanned = self.buffer.len();
        let tail = self.scanned - self.complete;
        if tail > self.line_bytes_max {
            self.dropping = Some(tail as u64);
            self.buffer.truncate(self.complete);
            self.scanned = self.complete;
        }
    }
}

/// The lines of one read, in order, borrowed from the buffer.
#[derive(Debug)]
pub struct LineChunk<'a> {
    dropped: Option<u64>,
    rest: &'a [u8],
    line_bytes_max: usize,
}

/// One line, or the report of a discarded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FramedLine<'a> {
    /// A line without its `\n` or `\r\n`.
    Line(&'a [u8]),
    /// A line over the limit was discarded.
    TooLong {
        /// Its length without the `\n`.
        bytes: u64,
    },
}

impl<'a> Iterator for LineChunk<'a> {
    type Item = FramedLine<'a>;

    fn next(&mut self) -> Option<FramedLine<'a>> {
        if let Some(bytes) = self.dropped.take() {
            return Some(FramedLine::TooLong { bytes });
        }
        if self.rest.is_empty() {
            return None;
        }
        let line = match memchr::memchr(b'\n', self.rest) {
            Some(end) => {
                let (line, rest) = self.rest.split_at(end);
                self.rest = &rest[1..];
                line
            }
            None => mem::take(&mut self.rest),
        };
        if line.len() > self.line_bytes_max {
            return Some(FramedLine::TooLong { bytes: line.len() as u64 });
        }
        Some(FramedLine::Line(line.strip_suffix(b"\r").unwrap_or(line)))
    }
}
