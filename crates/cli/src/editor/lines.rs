//! What the editor says, one message a line. While the queue is full, standard input is simply not read.

use bytes::Bytes;
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, BufReader},
    task::JoinSet,
};

use super::queue::{self, Item, Receiver, Sender};

/// The longest line; the largest message that a daemon takes.
const LINE_BYTES_MAX: usize = 64 << 20;

/// How many lines wait for the network.
const LINES_MAX: usize = 1024;

/// How much is read at once.
const READ_BYTES: usize = 64 << 10;

/// A line of the editor.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// A message, without the line break.
    Message(Bytes),
    /// One that is longer than any message may be; it was read over.
    TooLong,
}

/// The lines of the editor, in order.
#[derive(Debug)]
pub(super) struct Lines {
    queue: Receiver<Line>,
    /// One that was looked at and not taken yet.
    peeked: Option<Item<Line>>,
    _reader: JoinSet<()>,
}

impl Lines {
    pub(super) fn of_stdin() -> Self {
        Self::of(BufReader::with_capacity(READ_BYTES, tokio::io::stdin()))
    }

    fn of(input: impl AsyncBufRead + Unpin + Send + 'static) -> Self {
        let (sender, queue) = queue::new(LINES_MAX);
        let mut reader = JoinSet::new();
        reader.spawn(read(input, sender));
        Self { queue, peeked: None, _reader: reader }
    }

    /// The next line; `None` at the end of the input.
    pub(super) async fn next(&mut self) -> Option<Item<Line>> {
        match self.peeked.take() {
            Some(line) => Some(line),
            None => self.queue.recv().await,
        }
    }

    /// The next line, which stays where it is.
    pub(super) async fn peek(&mut self) -> Option<&Line> {
        if self.peeked.is_none() {
            self.peeked = self.queue.recv().await;
        }
        self.peeked.as_ref().map(|item| &item.value)
    }

    /// The next message that was read already.
    pub(super) fn drain(&mut self) -> Option<Bytes> {
        loop {
            match self.peeked.take().or_else(|| self.queue.try_recv())?.value {
                Line::Message(message) => return Some(message),
                Line::TooLong => {}
            }
        }
    }
}

/// Reads until the input ends, or nobody wants more of it.
async fn read(mut input: impl AsyncBufRead + Unpin, queue: Sender<Line>) {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let (taken, ended) = match input.fill_buf().await {
            // An input that breaks has ended too.
            Ok([]) | Err(_) => (0, true),
            Ok(buffer) => {
                let end = memchr::memchr(b'\n', buffer);
                let piece = &buffer[..end.unwrap_or(buffer.len())];
                too_long |= line.len() + piece.len() > LINE_BYTES_MAX;
                if too_long {
                    line = Vec::new()
                } else {
                    line.extend_from_slice(piece)
                }
                (piece.len() + usize::from(end.is_some()), end.is_some())
            }
        };
        input.consume(taken);
        if !ended {
            continue;
        }
        let said = std::mem::take(&mut line);
        let said = if std::mem::take(&mut too_long) { Some(Line::TooLong) } else { message(said) };
        if let Some(said) = said {
            let bytes = if let Line::Message(message) = &said { message.len() } else { 0 };
            if queue.send(said, bytes).await.is_err() {
                return;
            }
        }
        if taken == 0 {
            return;
        }
        // A long queue shall not keep the others from being heard.
        tokio::task::yield_now().await;
    }
}

/// A line that says something.
fn message(mut line: Vec<u8>) -> Option<Line> {
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    if line.trim_ascii().is_empty() { None } else { Some(Line::Message(line.into())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(input: &'static [u8], expected: &[&str]) {
        // A small buffer, so that lines come in pieces.
        let mut lines = Lines::of(BufReader::with_capacity(3, input));
        let mut found = Vec::new();
        while let Some(line) = lines.next().await {
            found.push(match &line.value {
                Line::Message(message) => String::from_utf8(message.to_vec()).unwrap(),
                Line::TooLong => "too long".into(),
            });
        }
        assert_eq!(found, expected);
    }

    #[tokio::test]
    async fn lines_come_byte_for_byte_without_their_breaks() {
        check(
            b"{\"a\": 1}\n\n  \r\n {\"b\":\t2} \r\n{\"c\":3}",
            &["{\"a\": 1}", " {\"b\":\t2} ", "{\"c\":3}"],
        )
        .await;
        check(b"", &[]).await;
        check(b"\n\n", &[]).await;
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_read_over_in_bounded_memory() {
        let mut input = vec![b'x'; LINE_BYTES_MAX + 1];
        input.extend_from_slice(b"\n{}\n");
        let mut lines = Lines::of(BufReader::with_capacity(READ_BYTES, std::io::Cursor::new(input)));
        assert_eq!(lines.next().await.unwrap().value, Line::TooLong);
        assert_eq!(lines.next().await.unwrap().value, Line::Message("{}".into()));
        assert!(lines.next().await.is_none());
    }

    #[tokio::test]
    async fn a_line_that_was_looked_at_comes_next() {
        let mut lines = Lines::of(&b"1\n2\n"[..]);
        assert_eq!(lines.peek().await, Some(&Line::Message("1".into())));
        assert_eq!(lines.peek().await, Some(&Line::Message("1".into())));
        assert_eq!(lines.next().await.unwrap().value, Line::Message("1".into()));
        assert_eq!(lines.peek().await, Some(&Line::Message("2".into())));
        assert_eq!(lines.drain(), Some("2".into()));
        assert_eq!(lines.drain(), None);
    }
}
