//! A flood of numbered lines of equal length, at full speed or at a steady rate.

use std::{
    io::{self, Write},
    time::{Duration, Instant},
};

use super::json_rpc_request::number_after;
use crate::{clock, line_counter};

/// The size of one write of a flood at full speed. It exceeds the capacity of a pipe, so that the pipe is always full
/// while the server reads and the stub is never the bottleneck.
const BLOCK_BYTES: usize = 256 << 10;

/// The longest single sleep of a paced flood; the loop reads the clock again after each one.
const TICK: Duration = Duration::from_millis(1);

/// The filler text has an escaped line break after this many bytes, as the text of agents has. A server that parses
/// the JSON must unescape it.
const ROW_BYTES: usize = 40;

const OPENING: &[u8] = br#"{"jsonrpc":"2.0","method":"session/update","params":{"#;
const TEXT: &[u8] = br#","text":""#;
const CLOSING: &[u8] = b"\"}}\n";

/// The parameters of a flood of notifications.
#[derive(Debug, Clone, Copy)]
pub struct Flood {
    /// The number of the first line.
    pub from: u64,
    /// The number of lines.
    pub count: u64,
    /// The length of each line with its line end. Lines are never shorter than a notification without filler text.
    pub bytes: usize,
    /// Lines per second; zero means as fast as possible.
    pub per_second: u64,
}

impl Flood {
    /// Reads the parameters of a `bench/flood` request.
    pub(super) fn from_request(line: &[u8]) -> Self {
        Self {
            from: number_after(line, b"\"from\":"),
            count: number_after(line, b"\"count\":"),
            bytes: number_after(line, b"\"bytes\":") as usize,
            per_second: number_after(line, b"\"perSecond\":"),
        }
    }

    /// Formats the parameters of a `bench/flood` request.
    pub fn params(&self) -> String {
        let Self { from, count, bytes, per_second } = self;
        format!(r#"{{"from":{from},"count":{count},"bytes":{bytes},"perSecond":{per_second}}}"#)
    }

    /// Writes all lines. The lines are prepared first and only their numbers change, so that a write costs little CPU
    /// time.
    ///
    /// # Errors
    /// If the reader has closed the pipe.
    pub fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let mut filler = FillerText(1);
        let (line, digits) = self.line(&mut filler);
        let lines_max = if self.per_second > 0 { 1 } else { (BLOCK_BYTES / line.len()).max(1) };
        let mut block = Vec::with_capacity(lines_max * line.len());
        (0..lines_max).for_each(|_| block.extend(self.line(&mut filler).0));
        let started = Instant::now();
        let mut next = self.from;
        let end = self.from + self.count;
        while next < end {
            if self.per_second > 0 {
                let due = started + Duration::from_secs(next - self.from) / self.per_second as u32;
                while Instant::now() < due {
                    clock::pause(due.saturating_duration_since(Instant::now()).min(TICK));
                }
            }
            let lines = lines_max.min((end - next) as usize);
            for (index, line) in block.chunks_exact_mut(line.len()).take(lines).enumerate() {
                line_counter::write_number(&mut line[digits..], next + index as u64);
            }
            block.truncate(lines * line.len());
            output.write_all(&block)?;
            next += lines as u64;
        }
        Ok(())
    }

    /// Builds one line with the number zero, and returns it with the position of the number.
    fn line(&self, filler: &mut FillerText) -> (Vec<u8>, usize) {
        let mut line = [OPENING, line_counter::MARK].concat();
        let digits = line.len();
        line.extend_from_slice(&[b'0'; line_counter::DIGITS]);
        line.push(b'"');
        line.extend_from_slice(TEXT);
        let room = self.bytes.saturating_sub(line.len() + CLOSING.len());
        while line.len() < digits + line_counter::DIGITS + 1 + TEXT.len() + room {
            let words = (0..ROW_BYTES - 2).map(|_| filler.letter());
            line.extend(words.chain(*b"\\n"));
        }
        line.truncate(digits + line_counter::DIGITS + 1 + TEXT.len() + room);
        // The cut may have split an escaped line break.
        if line.last() == Some(&b'\\') {
            line.pop();
            line.push(b'.');
        }
        line.extend_from_slice(CLOSING);
        (line, digits)
    }
}

/// Pseudo-random letters, which compress worse than the text of real agents. A server that compresses its history
/// gets no unrealistic advantage.
struct FillerText(u64);

impl FillerText {
    fn letter(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        b"abcdefghijklmnopqrstuvwxyz     ."[(self.0 >> 59) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes cover every position at which the cut can meet an escape.
    #[test]
    fn every_line_has_the_requested_size() {
        for bytes in 120..220 {
            let mut written = Vec::new();
            Flood { from: 5, count: 3, bytes, per_second: 0 }.write(&mut written).unwrap();
            let lines: Vec<&[u8]> = written.split_inclusive(|byte| *byte == b'\n').collect();
            assert_eq!(lines.len(), 3);
            for (index, line) in lines.iter().enumerate() {
                assert_eq!(line.len(), bytes);
                let line: serde_json::Value = serde_json::from_slice(line).unwrap();
                assert_eq!(line["params"]["seq"], format!("{:010}", 5 + index));
            }
        }
    }
}
