//! A chunked body, decoded as it comes and without a copy.

/// Where the decoder is.
#[derive(Debug, Default)]
pub(crate) struct Chunked {
    state: State,
    /// What is left of the chunk, or its size as far as it was read.
    left: usize,
}

#[derive(Debug, Default, PartialEq)]
enum State {
    #[default]
    Size,
    /// After the size, up to the end of its line.
    SizeEnd,
    Data,
    DataEnd,
    End,
}

impl Chunked {
    /// Hands the content of one more piece of the stream to `take`.
    pub(crate) fn feed(&mut self, mut data: &[u8], mut take: impl FnMut(&[u8])) {
        while let Some(&byte) = data.first() {
            match self.state {
                State::Size => match (byte as char).to_digit(16) {
                    Some(digit) => self.left = self.left * 16 + digit as usize,
                    None => {
                        self.state = State::SizeEnd;
                        continue;
                    }
                },
                State::SizeEnd if byte == b'\n' => {
                    self.state = if self.left == 0 { State::End } else { State::Data };
                }
                State::Data => {
                    let (content, rest) = data.split_at(self.left.min(data.len()));
                    take(content);
                    self.left -= content.len();
                    data = rest;
                    if self.left == 0 {
                        self.state = State::DataEnd;
                    }
                    continue;
                }
                State::DataEnd if byte == b'\n' => self.state = State::Size,
                State::SizeEnd | State::DataEnd => {}
                State::End => return,
            }
            data = &data[1..];
        }
    }

    /// Whether the body is complete.
    pub(crate) fn is_over(&self) -> bool {
        self.state == State::End
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_is_the_same_whatever_the_pieces() {
        let stream = b"4\r\nWiki\r\n10;name=x\r\n0123456789abcdef\r\n0\r\n\r\n";
        for piece in 1..stream.len() {
            let (mut decoder, mut content) = (Chunked::default(), Vec::new());
            stream
                .chunks(piece)
                .for_each(|piece| decoder.feed(piece, |bytes| content.extend_from_slice(bytes)));
            assert_eq!(content, b"Wiki0123456789abcdef");
            assert!(decoder.is_over());
        }
    }
}
