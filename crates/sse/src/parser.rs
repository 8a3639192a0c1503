use std::{collections::VecDeque, mem};

use crate::{FrameTooLarge, SseFrame};

/// The limit of [`SseParser::default`]: an ACP message may have 64 MiB, and the rest is for the other fields of its frame.
pub const FRAME_BYTES_MAX: usize = (64 << 20) + (1 << 20);

/// A line buffer that has grown beyond this for one long line is not kept for the next.
const KEPT_LINE_BYTES_MAX: usize = 64 << 10;

/// Finds frames in the pieces of a stream.
#[derive(Debug)]
pub struct SseParser {
    frame_bytes_max: usize,
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    /// The last piece ended with a carriage return: a line feed that comes next belongs to it.
    after_return: bool,
    /// The first line may start with a byte order mark.
    started: bool,
    frame: SseFrame,
    /// Whether `frame` has a `data` field, which may be empty.
    has_data: bool,
    /// Set while a frame is skipped because it is too large.
    skipped: Option<Skipped>,
    ready: VecDeque<Result<SseFrame, FrameTooLarge>>,
}

/// A frame that is being skipped, up to its blank line.
#[derive(Debug)]
struct Skipped {
    bytes: usize,
    /// Whether the current line has content, so that its end is no blank line.
    in_line: bool,
}

impl Default for SseParser {
    fn default() -> Self {
        Self::new(FRAME_BYTES_MAX)
    }
}

impl SseParser {
    /// Skips frames that are larger than `frame_bytes_max`.
    #[must_use]
    pub fn new(frame_bytes_max: usize) -> Self {
        Self {
            frame_bytes_max,
            line: Vec::new(),
            after_return: false,
            started: false,
            frame: SseFrame::default(),
            has_data: false,
            skipped: None,
            ready: VecDeque::new(),
        }
    }

    /// Takes the next piece of the stream. The frames that it completes can be popped.
    pub fn push(&mut self, mut piece: &[u8]) {
        if self.after_return && !piece.is_empty() {
            self.after_return = false;
            piece = piece.strip_prefix(b"\n").unwrap_or(piece);
        }
        while let Some(end) = memchr::memchr2(b'\r', b'\n', piece) {
            self.end_line(&piece[..end]);
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
        if self.fits(piece, true) {
            self.line.extend_from_slice(piece);
        }
    }

    /// Returns the next whole frame, or that one was too large.
    pub fn pop(&mut self) -> Option<Result<SseFrame, FrameTooLarge>> {
        self.ready.pop_front()
    }

    #[cfg(test)]
    pub(crate) fn buffered_bytes(&self) -> usize {
        self.line.len() + self.frame.data.len()
    }

    fn end_line(&mut self, rest: &[u8]) {
        if let Some(Skipped { bytes, in_line: false }) = self.skipped
            && rest.is_empty()
        {
            self.skipped = None;
            self.ready.push_back(Err(FrameTooLarge { bytes }));
            return;
        }
        if !self.fits(rest, false) {
            return;
        }
        if self.line.is_empty() {
            return self.on_line(rest);
        }
        let mut line = mem::take(&mut self.line);
        line.extend_from_slice(rest);
        self.on_line(&line);
        if line.capacity() <= KEPT_LINE_BYTES_MAX {
            line.clear();
            self.line = line;
        }
    }

    /// Whether `more` of the current line fits into the frame. If not, the frame is skipped. `in_line` is true if the line
    /// goes on after `more`.
    fn fits(&mut self, more: &[u8], in_line: bool) -> bool {
        if let Some(skipped) = &mut self.skipped {
            skipped.bytes += more.len();
            skipped.in_line = in_line && (skipped.in_line || !more.is_empty());
            return false;
        }
        let bytes = self.line.len() + self.frame.data.len() + more.len();
        if bytes <= self.frame_bytes_max {
            return true;
        }
        self.line = Vec::new();
        self.frame = SseFrame::default();
        self.has_data = false;
        self.skipped = Some(Skipped { bytes, in_line });
        false
    }

    fn on_line(&mut self, mut line: &[u8]) {
        if !mem::replace(&mut self.started, true) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            return self.on_blank_line();
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
            // A comment, or a field that has no meaning here.
            _ => {}
        }
    }

    fn on_blank_line(&mut self) {
        let frame = mem::take(&mut self.frame);
        if mem::take(&mut self.has_data) {
            self.ready.push_back(Ok(frame));
        }
    }
}
