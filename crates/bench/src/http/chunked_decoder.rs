//! An incremental decoder for bodies with chunked transfer encoding. It does not copy the content.

/// The state of the decoder between two reads.
#[derive(Debug, Default)]
pub(crate) struct ChunkedDecoder {
    state: ChunkedState,
    /// In `Size`, the digits of the chunk size read so far; in `Data`, the bytes of the chunk that are still missing.
    left: usize,
}

#[derive(Debug, Default, PartialEq)]
enum ChunkedState {
    #[default]
    Size,
    /// The rest of the line with the size, which may hold chunk extensions.
    SizeEnd,
    Data,
    DataEnd,
    End,
}

impl ChunkedDecoder {
    /// Decodes the next bytes of the stream and passes their content to `take`, in one or more slices.
    pub(crate) fn feed(&mut self, mut data: &[u8], mut take: impl FnMut(&[u8])) {
        while let Some(&byte) = data.first() {
            match self.state {
                ChunkedState::Size => match (byte as char).to_digit(16) {
                    Some(digit) => self.left = self.left * 16 + digit as usize,
                    None => {
                        self.state = ChunkedState::SizeEnd;
                        continue;
                    }
                },
                ChunkedState::SizeEnd if byte == b'\n' => {
                    self.state = if self.left == 0 { ChunkedState::End } else { ChunkedState::Data };
                }
                ChunkedState::Data => {
                    let (content, rest) = data.split_at(self.left.min(data.len()));
                    take(content);
                    self.left -= content.len();
                    data = rest;
                    if self.left == 0 {
                        self.state = ChunkedState::DataEnd;
                    }
                    continue;
                }
                ChunkedState::DataEnd if byte == b'\n' => self.state = ChunkedState::Size,
                ChunkedState::SizeEnd | ChunkedState::DataEnd => {}
                ChunkedState::End => return,
            }
            data = &data[1..];
        }
    }

    /// Whether the decoder has seen the empty chunk that ends the body.
    pub(crate) fn is_complete(&self) -> bool {
        self.state == ChunkedState::End
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_is_the_same_whatever_the_pieces() {
        let stream = b"4\r\nWiki\r\n10;name=x\r\n0123456789abcdef\r\n0\r\n\r\n";
        for piece in 1..stream.len() {
            let (mut decoder, mut content) = (ChunkedDecoder::default(), Vec::new());
            stream
                .chunks(piece)
                .for_each(|piece| decoder.feed(piece, |bytes| content.extend_from_slice(bytes)));
            assert_eq!(content, b"Wiki0123456789abcdef");
            assert!(decoder.is_complete());
        }
    }
}
