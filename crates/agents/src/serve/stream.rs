//! The data of server-sent events, off any pieces of a stream.

use bytes::Bytes;
use process::{Framer, Piece};

use super::Said;

/// The largest line of an event: it may carry a picture or a whole file.
const LINE_BYTES_MAX: usize = 64 << 20;

/// Finds events in pieces of a stream. Of an event only its data counts: the server says the rest in it.
#[derive(Debug)]
pub(super) struct Stream {
    framer: Framer,
    data: Option<Vec<u8>>,
}

impl Stream {
    pub(super) fn new() -> Self {
        Self { framer: Framer::new(LINE_BYTES_MAX), data: None }
    }

    /// Takes the next piece; the events that it completes, in order.
    pub(super) fn push(&mut self, piece: &[u8]) -> Vec<Said> {
        self.framer.space().extend_from_slice(piece);
        let mut said = Vec::new();
        for line in self.framer.chunk() {
            match line {
                Piece::TooLong { bytes } => said.push(Said::TooLong { bytes }),
                Piece::Line(b"") => {
                    if let Some(data) = self.data.take() {
                        said.push(Said::Event(data.into()));
                    }
                }
                Piece::Line(line) => {
                    let Some(more) = line.strip_prefix(b"data:") else { continue };
                    let more = more.strip_prefix(b" ").unwrap_or(more);
                    match &mut self.data {
                        None => self.data = Some(more.to_vec()),
                        Some(data) => {
                            data.push(b'\n');
                            data.extend_from_slice(more);
                        }
                    }
                }
            }
        }
        said
    }
}

impl From<&'static str> for Said {
    fn from(data: &'static str) -> Self {
        Self::Event(Bytes::from_static(data.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_however_the_bytes_are_cut() {
        let bytes =
            b": hello\nid: 1\nevent: message\ndata: {\"a\":1}\n\ndata:x\r\ndata: y\r\n\r\n\ndata: z\n";
        let expected: Vec<Said> = vec!["{\"a\":1}".into(), "x\ny".into()];
        for size in 1..=bytes.len() {
            let mut stream = Stream::new();
            let said: Vec<_> = bytes.chunks(size).flat_map(|piece| stream.push(piece)).collect();
            assert_eq!(said, expected, "in pieces of {size}");
        }
    }
}
