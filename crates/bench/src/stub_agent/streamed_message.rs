//! A turn that streams a message in pieces.

use std::{
    io::{self, Write},
    time::{Duration, Instant},
};

use memchr::memmem;

use super::json_rpc_request::number_after;
use crate::{clock, piece_stamp::PieceStamp};

/// The size of one write of a message at full speed: the capacity of a Linux pipe.
const BLOCK_BYTES: usize = 64 << 10;

const OPENING: &[u8] = br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"stub","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""#;
const CLOSING: &[u8] = b"\"}}}}\n";

/// The beginning of the prompt that starts such a turn, with the JSON before it.
const PROMPT_START: &[u8] = b"\"text\":\"bench/speak ";

/// A message in many pieces, each with its number and the time at which the agent wrote it.
#[derive(Debug, Clone, Copy)]
pub struct StreamedMessage {
    /// The number of pieces.
    pub count: u64,
    /// The length of the text of each piece. It is never shorter than a stamp.
    pub bytes: usize,
    /// Pieces per second; zero means as fast as possible.
    pub per_second: u64,
}

impl StreamedMessage {
    /// Reads the parameters from a prompt; `None` if it starts another kind of turn.
    pub(super) fn from_prompt(line: &[u8]) -> Option<Self> {
        let words = &line[memmem::find(line, PROMPT_START)?..];
        Some(Self {
            count: number_after(words, b"count="),
            bytes: number_after(words, b"bytes=") as usize,
            per_second: number_after(words, b"perSecond="),
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
            push_chunk(PieceStamp::now(next), self.bytes, &mut block);
            if self.per_second > 0 || block.len() >= BLOCK_BYTES || next + 1 == self.count {
                output.write_all(&block)?;
                block.clear();
            }
        }
        Ok(())
    }
}

/// Appends a notification whose text is the stamp, filled up to `bytes`.
pub(super) fn push_chunk(stamp: PieceStamp, bytes: usize, block: &mut Vec<u8>) {
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
    fn a_message_is_numbered_pieces_of_one_size() {
        let message = StreamedMessage { count: 3, bytes: 60, per_second: 0 };
        let prompt =
            format!(r#"{{"params":{{"prompt":[{{"type":"text","text":"{}"}}]}}}}"#, message.prompt());
        let mut written = Vec::new();
        StreamedMessage::from_prompt(prompt.as_bytes()).unwrap().write(&mut written).unwrap();
        let lines: Vec<&[u8]> =
            written.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), 3);
        for (number, line) in lines.into_iter().enumerate() {
            let line: serde_json::Value = serde_json::from_slice(line).unwrap();
            let text = line["params"]["update"]["content"]["text"].as_str().unwrap();
            assert_eq!(
                (text.len(), PieceStamp::find_in(text.as_bytes()).unwrap().number),
                (60, number as u64)
            );
        }
        assert!(StreamedMessage::from_prompt(br#"{"text":"count=3"}"#).is_none());
    }
}
