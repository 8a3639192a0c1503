//! What is kept of the output of a command until somebody asks for it.

use std::collections::VecDeque;

use base64::{Engine, prelude::BASE64_STANDARD};
use process::ChildStream;
use protocol::relay::{Encoding, shell::OutputChunk};

use super::chunk::{self, Chunk};

/// How much is told at once: six times as much, if each byte must be escaped, fits in a message.
pub(super) const DRAIN_BYTES_MAX: usize = 128 << 10;

/// Pieces of the same stream become one up to this size: a command that writes byte by byte costs no more than others.
const PIECE_BYTES_MAX: usize = 16 << 10;

/// The last of what a command wrote.
#[derive(Debug)]
pub(super) struct Ring {
    pieces: VecDeque<(ChildStream, Vec<u8>)>,
    bytes: usize,
    bytes_max: usize,
    /// Whether something was dropped.
    cut: bool,
}

impl Ring {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { pieces: VecDeque::new(), bytes: 0, bytes_max, cut: false }
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Something is missing that was never here.
    pub(super) fn cut(&mut self) {
        self.cut = true;
    }

    pub(super) fn push(&mut self, Chunk { stream, bytes }: &Chunk) {
        self.bytes += bytes.len();
        match self.pieces.back_mut() {
            Some((last, piece)) if *last == *stream && piece.len() + bytes.len() <= PIECE_BYTES_MAX => {
                piece.extend_from_slice(bytes);
            }
            _ => self.pieces.push_back((*stream, bytes.to_vec())),
        }
        while self.bytes > self.bytes_max
            && let Some((_, piece)) = self.pieces.pop_front()
        {
            self.bytes -= piece.len();
            self.cut = true;
        }
    }

    /// The oldest of it, which is then no longer here; nothing if there is none.
    pub(super) fn drain(&mut self) -> Vec<OutputChunk> {
        let mut outputs = Vec::new();
        let mut left = DRAIN_BYTES_MAX;
        while let Some((stream, piece)) = self.pieces.pop_front_if(|(_, piece)| piece.len() <= left) {
            left -= piece.len();
            self.bytes -= piece.len();
            outputs.push(output(stream, piece));
        }
        outputs
    }
}

fn output(stream: ChildStream, bytes: Vec<u8>) -> OutputChunk {
    let event = chunk::event(stream).into();
    match String::from_utf8(bytes) {
        Ok(data) => OutputChunk { event, data, encoding: None },
        Err(error) => {
            let data = BASE64_STANDARD.encode(error.as_bytes());
            OutputChunk { event, data, encoding: Some(Encoding::Base64) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(ring: &mut Ring, stream: ChildStream, text: &str) {
        ring.push(&Chunk { stream, bytes: text.to_owned().into() });
    }

    /// relay-83
    #[test]
    fn the_last_of_it_is_kept_in_order() {
        let mut ring = Ring::new(100 << 10);
        push(&mut ring, ChildStream::Stdout, "a");
        push(&mut ring, ChildStream::Stdout, "b");
        push(&mut ring, ChildStream::Stderr, "c");
        push(&mut ring, ChildStream::Stdout, "d");
        let told: Vec<_> = ring.drain().into_iter().map(|output| (output.event, output.data)).collect();
        let expected = [("stdout", "ab"), ("stderr", "c"), ("stdout", "d")];
        assert_eq!(told, expected.map(|(event, data)| (event.to_owned(), data.to_owned())));
        assert!(ring.drain().is_empty() && !ring.is_cut());
    }

    /// relay-83
    #[test]
    fn a_flood_stays_within_the_limit_and_is_told_bit_by_bit() {
        let mut ring = Ring::new(RING);
        const RING: usize = 300 << 10;
        for _ in 0..1000 {
            push(&mut ring, ChildStream::Stdout, &"x".repeat(10_000));
        }
        assert!(ring.bytes <= RING && ring.is_cut());
        let mut total = 0;
        loop {
            let told: usize = ring.drain().iter().map(|output| output.data.len()).sum();
            assert!(told <= DRAIN_BYTES_MAX);
            if told == 0 {
                break;
            }
            total += told;
        }
        assert!((RING - 20_000..=RING).contains(&total), "{total}");
        assert_eq!(ring.bytes, 0);
    }
}
