//! One connection that sends a request and waits for its answer: as little HTTP as a server needs to see.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use super::{
    chunked::Chunked,
    head::{Framing, Head},
};

/// How much is read at once.
const READ_BYTES: usize = 64 << 10;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// A keep-alive connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// Lets a read take at most so long; it then fails with `WouldBlock`.
    pub(crate) fn patience(self, time: Duration) -> io::Result<Self> {
        self.stream.set_read_timeout(Some(time))?;
        Ok(self)
    }

    /// Sends a request as it is.
    pub(crate) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request)
    }

    /// Waits for the head of an answer; what came after it stays in the buffer.
    pub(crate) fn head(&mut self) -> io::Result<Head> {
        loop {
            if let Some(head) = Head::of(&self.buffer) {
                self.buffer.drain(..head.bytes);
                return Ok(head);
            }
            self.fill()?;
        }
    }

    /// Waits for a whole answer.
    pub(crate) fn answer(&mut self) -> io::Result<Answer> {
        let Head { status, framing, .. } = self.head()?;
        let mut body = Vec::new();
        match framing {
            Framing::Length(length) => {
                while self.buffer.len() < length {
                    self.fill()?;
                }
                body.extend(self.buffer.drain(..length));
            }
            Framing::Chunked => {
                let mut decoder = Chunked::default();
                loop {
                    decoder.feed(&self.buffer, |bytes| body.extend_from_slice(bytes));
                    self.buffer.clear();
                    if decoder.is_over() {
                        break;
                    }
                    self.fill()?;
                }
            }
        }
        Ok(Answer { status, body })
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn ask(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.send(request)?;
        self.answer()
    }

    /// The socket, and what was read of it and not used.
    pub(crate) fn into_parts(self) -> (TcpStream, Vec<u8>) {
        (self.stream, self.buffer)
    }

    fn fill(&mut self) -> io::Result<()> {
        let length = self.buffer.len();
        self.buffer.resize(length + READ_BYTES, 0);
        let read = self.stream.read(&mut self.buffer[length..]);
        self.buffer.truncate(length + read.as_ref().map_or(0, |read| *read));
        if read? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }
}

/// A request without a body.
pub(crate) fn request(method: &str, path: &str, header: &str) -> Vec<u8> {
    let end = if header.is_empty() { "" } else { "\r\n" };
    format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{header}{end}\r\n").into_bytes()
}

/// A `POST` of JSON.
pub(crate) fn post(path: &str, body: &str) -> Vec<u8> {
    let header = format!("Content-Type: application/json\r\nContent-Length: {}", body.len());
    let mut request = request("POST", path, &header);
    request.extend_from_slice(body.as_bytes());
    request
}

/// One request on a connection of its own.
pub(crate) fn once(address: SocketAddr, request: &[u8], patience: Duration) -> io::Result<Answer> {
    Connection::open(address)?.patience(patience)?.ask(request)
}
