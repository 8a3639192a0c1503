//! The turns that a prompt can start: streaming a message in pieces, or requesting permissions one after the other.

use std::{
    io::{self, Write},
    time::{Duration, Instant},
};

use memchr::memmem;

use super::ask::number;
use crate::{clock, stamp::Stamp};

/// The size of one write of a speech at full speed: the capacity of a Linux pipe.
const BLOCK_BYTES: usize = 64 << 10;

const OPENING: &[u8] = br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"stub","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""#;
const CLOSING: &[u8] = b"\"}}}}\n";

/// The beginnings of the prompts that start such turns, with the JSON before them.
const SPEAK: &[u8] = b"\"text\":\"bench/speak ";
const ASK: &[u8] = b"\"text\":\"bench/ask ";

/// A message in many pieces, each with its number and the time at which the agent wrote it.
#[derive(Debug, Clone, Copy)]
pub struct Speech {
    /// The number of pieces.
    pub count: u64,
    /// The length of the text of each piece. It is never shorter than a stamp.
    pub bytes: usize,
    /// Pieces per second; zero means as fast as possible.
    pub per_second: u64,
}

impl Speech {
    /// Reads the parameters from a prompt; `None` if it starts another kind of turn.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let words = &line[memmem::find(line, SPEAK)?..];
        Some(Self {
            count: number(words, b"count="),
            bytes: number(words, b"bytes=") as usize,
            per_second: number(words, b"perSecond="),
        })
    }

    /// Formats the prompt that starts this turn.
    pub fn prompt(&self) -> String {
        let Self { count, bytes, per_second } = self;
        format!("bench/speak count={count} bytes={bytes} perSecond={per_second}")
    }

    /// Writes all pieces. With a rate, each piece has a due time counted from the start, so a late one delays no
    /// others.
    ///
    /// # Errors
    /// If the reader has closed the pipe.
    pub fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let started = Instant::now();
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        for next in 0..self.count {
            if self.per_second > 0 {
                let due = started + Duration::from_secs(next) / self.per_second as u32;
                clock::pause(due.saturating_duration_since(Instant::now()));
            }
            chunk(Stamp::now(next), self.bytes, &mut block);
            if self.per_second > 0 || block.len() >= BLOCK_BYTES || next + 1 == self.count {
                output.write_all(&block)?;
                block.clear();
            }
        }
        Ok(())
    }
}

/// A turn that requests a permission, reports when it read the answer, and requests the next one.
#[derive(Debug)]
pub(crate) struct Asking {
    /// The id of the prompt, as the bytes of its JSON value.
    pub(super) prompt: Vec<u8>,
    /// The number of permissions that have not been requested yet.
    left: u64,
}

impl Asking {
    /// Reads the parameters from a prompt; `None` if it starts another kind of turn.
    pub(super) fn of(line: &[u8], id: &[u8]) -> Option<Self> {
        let words = &line[memmem::find(line, ASK)?..];
        Some(Self { prompt: id.to_vec(), left: number(words, b"count=") })
    }

    /// Formats the prompt that starts this turn.
    pub(crate) fn prompt(count: u64) -> String {
        format!("bench/ask count={count}")
    }

    /// Appends the next permission request to `answers`; returns false if there was none left.
    pub(super) fn ask(&mut self, answers: &mut Vec<u8>) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        // Agent and client number their requests independently. A text id cannot be confused with the client's
        // numbers.
        let ask = format!(
            r#"{{"jsonrpc":"2.0","id":"ask-{left}","method":"session/request_permission","params":{{"sessionId":"stub","toolCall":{{"toolCallId":"call-{left}","title":"Remove it","kind":"delete","status":"pending","rawInput":{{"path":"build"}}}},"options":[{{"optionId":"allow","name":"Remove","kind":"allow_once"}},{{"optionId":"reject","name":"Keep","kind":"reject_once"}}]}}}}"#
        );
        answers.extend_from_slice(ask.as_bytes());
        answers.push(b'\n');
        true
    }

    /// Appends a piece of text that carries the time at which the stub read the answer.
    pub(super) fn answered(&self, at: Duration, answers: &mut Vec<u8>) {
        chunk(Stamp { at, number: self.left }, 0, answers);
    }
}

/// Appends a notification whose text is the stamp, filled up to `bytes`.
fn chunk(stamp: Stamp, bytes: usize, block: &mut Vec<u8>) {
    block.extend_from_slice(OPENING);
    let text = block.len();
    stamp.write(block);
    block.resize(block.len().max(text + bytes), b'x');
    block.extend_from_slice(CLOSING);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speech_is_numbered_pieces_of_one_size() {
        let asked = Speech { count: 3, bytes: 60, per_second: 0 };
        let prompt = format!(r#"{{"params":{{"prompt":[{{"type":"text","text":"{}"}}]}}}}"#, asked.prompt());
        let mut written = Vec::new();
        Speech::of(prompt.as_bytes()).unwrap().write(&mut written).unwrap();
        let lines: Vec<&[u8]> =
            written.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), 3);
        for (number, line) in lines.into_iter().enumerate() {
            let line: serde_json::Value = serde_json::from_slice(line).unwrap();
            let text = line["params"]["update"]["content"]["text"].as_str().unwrap();
            assert_eq!((text.len(), Stamp::of(text.as_bytes()).unwrap().number), (60, number as u64));
        }
        assert!(Speech::of(br#"{"text":"count=3"}"#).is_none());
    }

    #[test]
    fn permission_is_asked_for_as_often_as_was_said() {
        let prompt = format!(r#"{{"text":"{}"}}"#, Asking::prompt(2));
        let (mut asking, mut asks) = (Asking::of(prompt.as_bytes(), b"7").unwrap(), Vec::new());
        assert!(asking.ask(&mut asks) && asking.ask(&mut asks) && !asking.ask(&mut asks));
        let lines: Vec<_> = asks.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        assert!(lines.iter().all(|line| serde_json::from_slice::<serde_json::Value>(line).is_ok()));
        assert_eq!(lines.len(), 2);
    }
}
