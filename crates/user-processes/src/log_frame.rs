//! The frames in the journal of a process: the exact bytes it wrote, in a form that each frame can be shown as text by itself.
//!
//! The bytes of one character may arrive in two reads. Each frame therefore starts with the incomplete character that the
//! frame before it ended with (the *carry*). So a reader that starts at any frame shows the same text, and a reader that wants
//! the exact bytes skips the carry.
//!
//! A frame is a tag byte, the time (seconds as `i64`, nanoseconds as `i32`), and the content. Frames stay in memory, so their
//! layout may change with every version.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use jiff::Timestamp;
use journal::Seq;
use protocol::processes::{OutputStream, ProcessExit, ProcessLogEntry};

/// The size of tag and time.
const HEAD_BYTES: usize = 13;

/// The size of an encoded exit: a presence byte and an `i32`, for the code and for the signal.
const EXIT_BYTES: usize = 10;

/// An event in the log of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessEvent {
    /// It wrote output.
    Output(OutputPiece),
    /// It has exited; no event follows.
    Exited(ProcessExit),
}

/// The output of one read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputPiece {
    /// The stream that it was written to.
    pub stream: OutputStream,
    /// When it was read.
    pub at: Timestamp,
    /// The carry of the piece before, then the bytes of this one.
    carry_and_bytes: Bytes,
    carry: usize,
    /// No output follows on this stream, so an incomplete character at the end stays incomplete.
    last: bool,
}

impl OutputPiece {
    /// The exact bytes that were written.
    pub fn bytes(&self) -> Bytes {
        self.carry_and_bytes.slice(self.carry..)
    }

    /// The log entry for this piece, whose number is `seq`.
    pub fn entry(&self, seq: Seq) -> ProcessLogEntry {
        ProcessLogEntry { seq: seq.get(), stream: self.stream, logged_at: self.at, text: self.text() }
    }

    /// The output as text. Invalid UTF-8 is replaced. A character that arrived in two pieces belongs to the later one.
    pub fn text(&self) -> String {
        let incomplete = if self.last { 0 } else { incomplete_suffix(&self.carry_and_bytes) };
        let complete = &self.carry_and_bytes[..self.carry_and_bytes.len() - incomplete];
        String::from_utf8_lossy(complete).into_owned()
    }
}

/// The first byte of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FrameTag {
    Output {
        stream: OutputStream,
        /// The length of the carry: 0 to 3.
        carry: u8,
        last: bool,
    },
    Exited,
}

impl FrameTag {
    const STDERR: u8 = 1;
    const EXITED: u8 = 1 << 1;
    const LAST: u8 = 1 << 2;
    const CARRY_SHIFT: u32 = 3;

    fn to_byte(self) -> u8 {
        match self {
            Self::Exited => Self::EXITED,
            Self::Output { stream, carry, last } => {
                let stream = if stream == OutputStream::Stderr { Self::STDERR } else { 0 };
                let last = if last { Self::LAST } else { 0 };
                stream | last | carry << Self::CARRY_SHIFT
            }
        }
    }

    fn from_byte(byte: u8) -> Self {
        if byte & Self::EXITED != 0 {
            return Self::Exited;
        }
        Self::Output {
            stream: if byte & Self::STDERR == 0 { OutputStream::Stdout } else { OutputStream::Stderr },
            carry: byte >> Self::CARRY_SHIFT,
            last: byte & Self::LAST != 0,
        }
    }
}

impl ProcessEvent {
    /// Decodes a frame of [`LogEncoder`] or [`encode_exit`].
    pub(crate) fn decode(mut frame: Bytes) -> Self {
        let tag = FrameTag::from_byte(frame.get_u8());
        let at = Timestamp::new(frame.get_i64(), frame.get_i32()).unwrap_or_default();
        match tag {
            FrameTag::Exited => {
                let mut number = || (frame.get_u8() != 0).then_some(frame.get_i32());
                Self::Exited(ProcessExit { code: number(), signal: number(), exited_at: at })
            }
            FrameTag::Output { stream, carry, last } => {
                let carry = usize::from(carry);
                Self::Output(OutputPiece { stream, at, carry_and_bytes: frame, carry, last })
            }
        }
    }
}

/// Encodes output frames, and remembers the incomplete character at the end of each stream.
#[derive(Debug, Default)]
pub(crate) struct LogEncoder {
    stdout_carry: Vec<u8>,
    stderr_carry: Vec<u8>,
}

impl LogEncoder {
    /// Appends the frame for `bytes`, which were read at `at`.
    pub(crate) fn encode_output(
        &mut self,
        stream: OutputStream,
        at: Timestamp,
        bytes: &[u8],
        out: &mut BytesMut,
    ) {
        let carry = self.carry_mut(stream);
        let tag = FrameTag::Output { stream, carry: carry.len() as u8, last: false };
        let start = encode_head(tag, at, carry.len() + bytes.len(), out);
        out.put_slice(carry);
        out.put_slice(bytes);
        let content = &out[start..];
        carry.clear();
        carry.extend_from_slice(&content[content.len() - incomplete_suffix(content)..]);
    }

    /// Appends the frame for a character that stays incomplete because the stream has ended. The frame has no bytes of its
    /// own, only the carry. Returns whether there was one.
    pub(crate) fn encode_carry(&mut self, stream: OutputStream, at: Timestamp, out: &mut BytesMut) -> bool {
        let carry = std::mem::take(self.carry_mut(stream));
        if carry.is_empty() {
            return false;
        }
        let tag = FrameTag::Output { stream, carry: carry.len() as u8, last: true };
        encode_head(tag, at, carry.len(), out);
        out.put_slice(&carry);
        true
    }

    /// Whether `stream` ended with an incomplete character so far.
    pub(crate) fn has_carry(&self, stream: OutputStream) -> bool {
        match stream {
            OutputStream::Stdout => !self.stdout_carry.is_empty(),
            OutputStream::Stderr => !self.stderr_carry.is_empty(),
        }
    }

    fn carry_mut(&mut self, stream: OutputStream) -> &mut Vec<u8> {
        match stream {
            OutputStream::Stdout => &mut self.stdout_carry,
            OutputStream::Stderr => &mut self.stderr_carry,
        }
    }
}

/// Appends the frame for the exit of the process.
pub(crate) fn encode_exit(exit: &ProcessExit, out: &mut BytesMut) {
    encode_head(FrameTag::Exited, exit.exited_at, EXIT_BYTES, out);
    for number in [exit.code, exit.signal] {
        out.put_u8(u8::from(number.is_some()));
        out.put_i32(number.unwrap_or_default());
    }
}

/// Appends tag and time, with room for `content_bytes`. Returns where the content starts.
fn encode_head(tag: FrameTag, at: Timestamp, content_bytes: usize, out: &mut BytesMut) -> usize {
    out.reserve(HEAD_BYTES + content_bytes);
    out.put_u8(tag.to_byte());
    out.put_i64(at.as_second());
    out.put_i32(at.subsec_nanosecond());
    out.len()
}

/// The number of bytes at the end that are the start of an incomplete character: at most 3.
fn incomplete_suffix(bytes: &[u8]) -> usize {
    let starts_character = |byte: &u8| *byte & 0b1100_0000 != 0b1000_0000;
    let length = bytes.iter().rev().take(3).position(starts_character).map_or(0, |position| position + 1);
    match std::str::from_utf8(&bytes[bytes.len() - length..]) {
        Err(error) if error.error_len().is_none() => length,
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
