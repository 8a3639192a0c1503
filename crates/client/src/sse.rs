//! Server-sent events off a wire: any bytes in any pieces, whole frames out, bounded memory.

use std::{collections::VecDeque, mem};

/// The largest frame: a message may have 64 MiB, and the rest is for its other fields.
const FRAME_BYTES_MAX: usize = (64 << 20) + (1 << 20);

/// One event as the wire has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Its type; empty if it was not said, which means `message`.
    pub(crate) event: String,
    /// Its id, if it has one of its own.
    pub(crate) id: Option<String>,
    /// What it says.
    pub(crate) data: String,
}

/// A frame that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {FRAME_BYTES_MAX} bytes")]
pub(crate) struct TooLarge;

/// Finds frames in pieces of a stream, by the rules of the WHATWG HTML standard.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    /// The start of a line whose end has not come.
    line: Vec<u8>,
    /// The last piece ended with a carriage return: a line feed that comes next belongs to it.
    after_return: bool,
    /// The first line may start with a byte order mark.
    started: bool,
    frame: Frame,
    /// Whether `frame` has a `data` field, which may be empty.
    has_data: bool,
    ready: VecDeque<Frame>,
}

impl Parser {
    /// Takes the next piece; the frames that it completes can be popped.
    pub(crate) fn push(&mut self, mut piece: &[u8]) -> Result<(), TooLarge> {
        if self.after_return && !piece.is_empty() {
            self.after_return = false;
            piece = piece.strip_prefix(b"\n").unwrap_or(piece);
        }
        while let Some(end) = memchr::memchr2(b'\r', b'\n', piece) {
            self.bounded(end)?;
            if self.line.is_empty() {
                self.on_line(&piece[..end]);
            } else {
                let mut line = mem::take(&mut self.line);
                line.extend_from_slice(&piece[..end]);
                self.on_line(&line);
                // Kept for the next line, unless it has grown to the size of a rare one.
                if line.capacity() <= 64 << 10 {
                    line.clear();
                    self.line = line;
                }
            }
            let after = &piece[end + 1..];
            piece = match (piece[end], after) {
                (b'\r', []) => {
                    self.after_return = true;
                    after
                }
                (b'\r', [b'\n', rest @ ..]) => rest,
                _ => after,
            };
        }
        self.bounded(piece.len())?;
        self.line.extend_from_slice(piece);
        Ok(())
    }

    /// The next whole frame.
    pub(crate) fn pop(&mut self) -> Option<Frame> {
        self.ready.pop_front()
    }

    fn bounded(&self, more: usize) -> Result<(), TooLarge> {
        if self.line.len() + self.frame.data.len() + more > FRAME_BYTES_MAX { Err(TooLarge) } else { Ok(()) }
    }

    fn on_line(&mut self, mut line: &[u8]) {
        if !mem::replace(&mut self.started, true) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            return self.on_blank();
        }
        let (name, value) = match memchr::memchr(b':', line) {
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &b""[..]),
        };
        let value = String::from_utf8_lossy(value);
        match name {
            b"event" => self.frame.event = value.into_owned(),
            b"id" if !value.contains('\0') => self.frame.id = Some(value.into_owned()),
            b"data" => {
                if self.has_data {
                    self.frame.data.push('\n');
                }
                self.frame.data.push_str(&value);
                self.has_data = true;
            }
            // A comment, or a field that we have no use for.
            _ => {}
        }
    }

    fn on_blank(&mut self) {
        let frame = mem::take(&mut self.frame);
        if mem::take(&mut self.has_data) {
            self.ready.push_back(frame);
        }
    }
}

#[cfg(test)]
mod tests;
