//! One stream of a session, cut into its events.

use std::{
    io::{self, Read},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use memchr::memmem;

use super::{
    chunked::Chunked,
    http::{self, Connection},
};

/// How much is read at once.
const READ_BYTES: usize = 64 << 10;

/// How long an event may take that is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// What stands before what an event says.
const DATA: &[u8] = b"data: ";

/// A stream.
#[derive(Debug)]
pub(crate) struct Followed {
    stream: TcpStream,
    decoder: Chunked,
    content: Vec<u8>,
    /// How much of the content was taken.
    taken: usize,
}

impl Followed {
    /// Opens the stream at `path`.
    pub(crate) fn open(address: SocketAddr, path: &str) -> io::Result<Self> {
        let mut connection = Connection::open(address)?.patience(PATIENCE)?;
        connection.send(&http::request("GET", path, ""))?;
        let head = connection.head()?;
        if head.status != 200 {
            return Err(io::Error::other(format!("a stream was refused with {}", head.status)));
        }
        let (stream, unread) = connection.into_parts();
        let mut followed = Self { stream, decoder: Chunked::default(), content: Vec::new(), taken: 0 };
        followed.feed(&unread);
        Ok(followed)
    }

    /// The socket, for whoever waits for many.
    pub(crate) fn socket(&self) -> &TcpStream {
        &self.stream
    }

    /// Reads once; whether the stream has ended.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        match self.stream.read(buffer) {
            Ok(read) => {
                self.feed(&buffer[..read]);
                Ok(read == 0 || self.decoder.is_over())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What the next event says, of those that were read.
    pub(crate) fn take(&mut self) -> Option<&[u8]> {
        loop {
            let from = self.taken;
            let end = from + memchr::memchr(b'\n', &self.content[from..])?;
            self.taken = end + 1;
            if self.content[from..end].starts_with(DATA) {
                return Some(&self.content[from + DATA.len()..end]);
            }
        }
    }

    /// Waits for the next event that holds these words: what it says.
    pub(crate) fn until(&mut self, words: &[u8]) -> io::Result<Vec<u8>> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            while let Some(event) = self.take() {
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
