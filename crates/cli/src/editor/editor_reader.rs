//! Reads messages from the editor, one per line. While the queue is full, standard input is not read, so the editor has to
//! wait.

use bytes::Bytes;
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, BufReader},
    task::JoinSet,
};

use super::queue::{QueueItem, QueueReceiver, QueueSender, bounded_queue};

/// The longest line: the largest message that a daemon accepts.
const LINE_BYTES_MAX: usize = 64 << 20;

/// How many lines may wait for the network.
const LINES_MAX: usize = 1024;

/// Size of the read buffer.
const READ_BYTES: usize = 64 << 10;

/// A line from the editor.
#[derive(Debug, PartialEq)]
pub(super) enum EditorLine {
    /// A message, without the line break.
    Message(Bytes),
    /// A line that exceeds [`LINE_BYTES_MAX`]. Its content was skipped.
    TooLong,
}

/// The lines from the editor, in order.
#[derive(Debug)]
pub(super) struct EditorReader {
    queue: QueueReceiver<EditorLine>,
    peeked: Option<QueueItem<EditorLine>>,
    _reader: JoinSet<()>,
}

impl EditorReader {
    pub(super) fn from_stdin() -> Self {
        Self::new(BufReader::with_capacity(READ_BYTES, tokio::io::stdin()))
    }

    fn new(input: impl AsyncBufRead + Unpin + Send + 'static) -> Self {
        let (sender, queue) = bounded_queue(LINES_MAX);
        let mut reader = JoinSet::new();
        reader.spawn(read(input, sender));
        Self { queue, peeked: None, _reader: reader }
    }

    /// The next line; `None` at the end of the input.
    pub(super) async fn next(&mut self) -> Option<QueueItem<EditorLine>> {
        match self.peeked.take() {
            Some(line) => Some(line),
            None => self.queue.recv().await,
        }
    }

    /// The next line, without removing it.
    pub(super) async fn peek(&mut self) -> Option<&EditorLine> {
        if self.peeked.is_none() {
            self.peeked = self.queue.recv().await;
        }
        self.peeked.as_ref().map(|item| &item.value)
    }

    /// The next message that was already read.
    pub(super) fn try_next_message(&mut self) -> Option<Bytes> {
        loop {
            match self.peeked.take().or_else(|| self.queue.try_recv())?.value {
                EditorLine::Message(message) => return Some(message),
                EditorLine::TooLong => {}
            }
        }
    }
}

/// Reads until the input ends, or the receiver is gone.
async fn read(mut input: impl AsyncBufRead + Unpin, queue: QueueSender<EditorLine>) {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let (taken, ended) = match input.fill_buf().await {
            // A read error counts as the end of the input.
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
        let bytes = std::mem::take(&mut line);
        let parsed =
            if std::mem::take(&mut too_long) { Some(EditorLine::TooLong) } else { parse_line(bytes) };
        if let Some(parsed) = parsed {
            let bytes = if let EditorLine::Message(message) = &parsed { message.len() } else { 0 };
            if queue.send(parsed, bytes).await.is_err() {
                return;
            }
        }
        if taken == 0 {
            return;
        }
        // `fill_buf` and `send` may be ready many times in a row. Yield, so that the other direction is not starved.
        tokio::task::yield_now().await;
    }
}

/// Strips a carriage return and skips blank lines.
fn parse_line(mut line: Vec<u8>) -> Option<EditorLine> {
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    if line.trim_ascii().is_empty() { None } else { Some(EditorLine::Message(line.into())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(input: &'static [u8], expected: &[&str]) {
        // A small buffer, so that lines arrive in pieces.
        let mut lines = EditorReader::new(BufReader::with_capacity(3, input));
        let mut found = Vec::new();
        while let Some(line) = lines.next().await {
            found.push(match &line.value {
                EditorLine::Message(message) => String::from_utf8(message.to_vec()).unwrap(),
                EditorLine::TooLong => "too long".into(),
            });
        }
        assert_eq!(found, expected);
    }

    #[tokio::test]
    async fn lines_are_read_unchanged_without_line_breaks() {
        check(
            b"{\"a\": 1}\n\n  \r\n {\"b\":\t2} \r\n{\"c\":3}",
            &["{\"a\": 1}", " {\"b\":\t2} ", "{\"c\":3}"],
        )
        .await;
        check(b"", &[]).await;
        check(b"\n\n", &[]).await;
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_in_bounded_memory() {
        let mut input = vec![b'x'; LINE_BYTES_MAX + 1];
        input.extend_from_slice(b"\n{}\n");
        let mut lines = EditorReader::new(BufReader::with_capacity(READ_BYTES, std::io::Cursor::new(input)));
        assert_eq!(lines.next().await.unwrap().value, EditorLine::TooLong);
        assert_eq!(lines.next().await.unwrap().value, EditorLine::Message("{}".into()));
        assert!(lines.next().await.is_none());
    }

    #[tokio::test]
    async fn a_peeked_line_is_returned_next() {
        let mut lines = EditorReader::new(&b"1\n2\n"[..]);
        assert_eq!(lines.peek().await, Some(&EditorLine::Message("1".into())));
        assert_eq!(lines.peek().await, Some(&EditorLine::Message("1".into())));
        assert_eq!(lines.next().await.unwrap().value, EditorLine::Message("1".into()));
        assert_eq!(lines.peek().await, Some(&EditorLine::Message("2".into())));
        assert_eq!(lines.try_next_message(), Some("2".into()));
        assert_eq!(lines.try_next_message(), None);
    }
}
