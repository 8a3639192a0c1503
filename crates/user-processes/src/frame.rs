//! How the log of a process is kept: the exact bytes, and what is needed to tell each piece as text by itself.
//!
//! A character may come in two pieces. Each piece therefore begins with what the one before it left unfinished, so that
//! a reader who starts anywhere tells the same text, and who wants the bytes skips it.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use jiff::Timestamp;
use journal::Seq;
use protocol::processes::{OutputStream, ProcessExit, ProcessLogEntry};

const STDERR: u8 = 1;
const EXITED: u8 = 1 << 1;
/// Nothing follows on this stream, so what is unfinished stays so.
const LAST: u8 = 1 << 2;
/// Above these bits stands how many bytes of the piece before are repeated.
const CARRY_SHIFT: u32 = 3;

/// The tag and the time.
const HEAD_BYTES: usize = 13;

/// Something in the log of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// It wrote something.
    Output(Output),
    /// It has ended; nothing comes after this.
    Exited(ProcessExit),
}

/// Something that a process wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Where it was written to.
    pub stream: OutputStream,
    /// When it was read.
    pub at: Timestamp,
    /// What was written, after what is repeated of the piece before.
    whole: Bytes,
    carry: usize,
    last: bool,
}

impl Output {
    /// Exactly what was written.
    pub fn bytes(&self) -> Bytes {
        self.whole.slice(self.carry..)
    }

    /// The piece with the number `seq`, as it is told.
    pub fn entry(&self, seq: Seq) -> ProcessLogEntry {
        ProcessLogEntry { seq: seq.get(), stream: self.stream, at: self.at, text: self.text() }
    }

    /// What was written, as text. Bytes that are not UTF-8 are replaced; a character that came in two pieces is told
    /// with the later one.
    pub fn text(&self) -> String {
        let unfinished = if self.last { 0 } else { unfinished(&self.whole) };
        String::from_utf8_lossy(&self.whole[..self.whole.len() - unfinished]).into_owned()
    }
}

impl Event {
    /// Reads what [`Encoder`] wrote.
    pub(crate) fn read(mut frame: Bytes) -> Self {
        let tag = frame.get_u8();
        let at = Timestamp::new(frame.get_i64(), frame.get_i32()).unwrap_or_default();
        if tag & EXITED != 0 {
            let mut number = || (frame.get_u8() != 0).then_some(frame.get_i32());
            return Self::Exited(ProcessExit { code: number(), signal: number(), at });
        }
        Self::Output(Output {
            stream: if tag & STDERR == 0 { OutputStream::Stdout } else { OutputStream::Stderr },
            at,
            carry: usize::from(tag >> CARRY_SHIFT),
            last: tag & LAST != 0,
            whole: frame,
        })
    }
}

/// Writes frames, and remembers what each stream left unfinished.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    unfinished: [Vec<u8>; 2],
}

impl Encoder {
    /// Adds the frame for `bytes`, which were read at `at`.
    pub(crate) fn output(&mut self, stream: OutputStream, at: Timestamp, bytes: &[u8], out: &mut BytesMut) {
        let carry = &mut self.unfinished[usize::from(bit(stream))];
        let tag = bit(stream) | (carry.len() as u8) << CARRY_SHIFT;
        let start = head(tag, at, carry.len() + bytes.len(), out);
        out.put_slice(carry);
        out.put_slice(bytes);
        let whole = &out[start..];
        carry.clear();
        carry.extend_from_slice(&whole[whole.len() - unfinished(whole)..]);
    }

    /// Adds the frame that tells what `stream` left unfinished for good; false if that is nothing.
    pub(crate) fn rest(&mut self, stream: OutputStream, at: Timestamp, out: &mut BytesMut) -> bool {
        let carry = std::mem::take(&mut self.unfinished[usize::from(bit(stream))]);
        if carry.is_empty() {
            return false;
        }
        head(bit(stream) | LAST | (carry.len() as u8) << CARRY_SHIFT, at, carry.len(), out);
        out.put_slice(&carry);
        true
    }

    /// Whether `stream` left something unfinished.
    pub(crate) fn has_rest(&self, stream: OutputStream) -> bool {
        !self.unfinished[usize::from(bit(stream))].is_empty()
    }
}

/// Adds the frame for the end of the process.
pub(crate) fn exited(exit: &ProcessExit, out: &mut BytesMut) {
    head(EXITED, exit.at, 10, out);
    for number in [exit.code, exit.signal] {
        out.put_u8(u8::from(number.is_some()));
        out.put_i32(number.unwrap_or_default());
    }
}

fn head(tag: u8, at: Timestamp, more: usize, out: &mut BytesMut) -> usize {
    out.reserve(HEAD_BYTES + more);
    out.put_u8(tag);
    out.put_i64(at.as_second());
    out.put_i32(at.subsec_nanosecond());
    out.len()
}

const fn bit(stream: OutputStream) -> u8 {
    match stream {
        OutputStream::Stdout => 0,
        OutputStream::Stderr => STDERR,
    }
}

/// How many bytes at the end may be the beginning of a character: at most 3.
fn unfinished(bytes: &[u8]) -> usize {
    let is_lead = |byte: &u8| *byte & 0b1100_0000 != 0b1000_0000;
    let back = bytes.iter().rev().take(3).position(is_lead).map_or(0, |position| position + 1);
    match std::str::from_utf8(&bytes[bytes.len() - back..]) {
        Err(error) if error.error_len().is_none() => back,
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
