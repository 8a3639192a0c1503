//! The event stream (SSE) of one session, split into events.

use std::{
    io::{self, Read},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use memchr::memmem;

use super::{
    http::ChunkedDecoder,
    http::{self, HttpConnection},
};

/// The most that one read returns.
const READ_BYTES: usize = 64 << 10;

/// The read timeout while a caller waits for an event.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The SSE field that holds the JSON of an event.
const DATA: &[u8] = b"data: ";

/// An open stream and the events that were read from it.
#[derive(Debug)]
pub(crate) struct SessionEventReader {
    stream: TcpStream,
    decoder: ChunkedDecoder,
    /// The decoded body that was read so far, without the part that [`SessionEventReader::feed`] has dropped.
    content: Vec<u8>,
    /// The length of the part of `content` that was returned as events. [`SessionEventReader::feed`] drops it.
    taken: usize,
}

impl SessionEventReader {
    pub(crate) fn open(address: SocketAddr, path: &str) -> io::Result<Self> {
        let mut connection = HttpConnection::open(address)?.with_read_timeout(READ_TIMEOUT)?;
        connection.send(&http::request("GET", path, ""))?;
        let head = connection.read_head()?;
        if head.status != 200 {
            return Err(io::Error::other(format!("a stream was refused with {}", head.status)));
        }
        let (stream, unread) = connection.into_parts();
        let mut reader = Self { stream, decoder: ChunkedDecoder::default(), content: Vec::new(), taken: 0 };
        reader.feed(&unread);
        Ok(reader)
    }

    /// The socket, for callers that wait for many streams with epoll.
    pub(crate) fn socket(&self) -> &TcpStream {
        &self.stream
    }

    /// Reads once and returns whether the stream has ended.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        match self.stream.read(buffer) {
            Ok(read) => {
                self.feed(&buffer[..read]);
                Ok(read == 0 || self.decoder.is_complete())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the JSON of the next event that was read completely.
    pub(crate) fn next_event(&mut self) -> Option<&[u8]> {
        loop {
            let from = self.taken;
            let end = from + memchr::memchr(b'\n', &self.content[from..])?;
            self.taken = end + 1;
            if self.content[from..end].starts_with(DATA) {
                return Some(&self.content[from + DATA.len()..end]);
            }
        }
    }

    /// Waits for the next event that contains `words` and returns its JSON.
    pub(crate) fn wait_for_event(&mut self, words: &[u8]) -> io::Result<Vec<u8>> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            while let Some(event) = self.next_event() {
                if memmem::find(event, words).is_some() {
                    return Ok(event.to_vec());
                }
            }
            let read = self.stream.read(&mut buffer)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.feed(&buffer[..read]);
        }
    }

    fn feed(&mut self, data: &[u8]) {
        self.content.drain(..self.taken);
        self.taken = 0;
        self.decoder.feed(data, |bytes| self.content.extend_from_slice(bytes));
    }
}
