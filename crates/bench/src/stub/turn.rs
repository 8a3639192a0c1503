//! What a prompt of a session asks for: to speak, or to ask for permission again and again.

use std::{
    io::{self, Write},
    time::{Duration, Instant},
};

use memchr::memmem;

use super::ask::number;
use crate::{clock, stamp::Stamp};

/// How much is written at once of what has no pace.
const BLOCK_BYTES: usize = 64 << 10;

const OPENING: &[u8] = br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"stub","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""#;
const CLOSING: &[u8] = b"\"}}}}\n";

/// The word that a prompt begins with, and what follows it.
const SPEAK: &[u8] = b"\"text\":\"bench/speak ";
const ASK: &[u8] = b"\"text\":\"bench/ask ";

/// A message in many pieces, each with its number and the time at which it was written.
#[derive(Debug, Clone, Copy)]
pub struct Speech {
    /// How many pieces.
    pub count: u64,
    /// How long the text of each is, at least a stamp.
    pub bytes: usize,
    /// How many per second; as many as possible if zero.
    pub per_second: u64,
}

impl Speech {
    /// What a prompt asks for, if it asks for this.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let words = &line[memmem::find(line, SPEAK)?..];
        Some(Self {
            count: number(words, b"count="),
            bytes: number(words, b"bytes=") as usize,
            per_second: number(words, b"perSecond="),
        })
    }

    /// The prompt that asks for it.
    pub fn prompt(&self) -> String {
        let Self { count, bytes, per_second } = self;
        format!("bench/speak count={count} bytes={bytes} perSecond={per_second}")
    }

    /// Writes it.
    ///
    /// # Errors
    /// If nobody reads.
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

/// A turn that asks for permission, says when it was given, and asks again.
#[derive(Debug)]
pub(crate) struct Asking {
    /// The id of the prompt, as it is written.
    pub(super) prompt: Vec<u8>,
    left: u64,
}

impl Asking {
    /// What a prompt asks for, if it asks for this.
    pub(super) fn of(line: &[u8], id: &[u8]) -> Option<Self> {
        let words = &line[memmem::find(line, ASK)?..];
        Some(Self { prompt: id.to_vec(), left: number(words, b"count=") })
    }

    /// The prompt that asks for it.
    pub(crate) fn prompt(count: u64) -> String {
        format!("bench/ask count={count}")
    }

    /// Asks once more; false if it was enough.
    pub(super) fn ask(&mut self, answers: &mut Vec<u8>) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        // Ids of ours do not look like those of the client.
        let ask = format!(
            r#"{{"jsonrpc":"2.0","id":"ask-{left}","method":"session/request_permission","params":{{"sessionId":"stub","toolCall":{{"toolCallId":"call-{left}","title":"Remove it","kind":"delete","status":"pending","rawInput":{{"path":"build"}}}},"options":[{{"optionId":"allow","name":"Remove","kind":"allow_once"}},{{"optionId":"reject","name":"Keep","kind":"reject_once"}}]}}}}"#
        );
        answers.extend_from_slice(ask.as_bytes());
        answers.push(b'\n');
        true
    }

    /// Says when it was answered.
    pub(super) fn answered(&self, at: Duration, answers: &mut Vec<u8>) {
        chunk(Stamp { at, number: self.left }, 0, answers);
    }
}

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
