//! A minimal HTTP/1.1 client: one blocking connection, one request at a time.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use super::{
    chunked::Chunked,
    head::{Framing, Head},
};

/// The most that one read returns.
const READ_BYTES: usize = 64 << 10;

/// A response with its whole body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// A keep-alive connection to a server.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    /// Bytes that were read from the socket and not used yet.
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// Sets the read timeout. A read that takes longer fails with `WouldBlock`.
    pub(crate) fn patience(self, time: Duration) -> io::Result<Self> {
        self.stream.set_read_timeout(Some(time))?;
        Ok(self)
    }

    /// Sends the bytes of a request, unchanged.
    pub(crate) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request)
    }

    /// Waits for the head of a response. Body bytes that arrived with it stay in the buffer.
    pub(crate) fn head(&mut self) -> io::Result<Head> {
        loop {
            if let Some(head) = Head::of(&self.buffer) {
                self.buffer.drain(..head.bytes);
                return Ok(head);
            }
            self.fill()?;
        }
    }

    /// Waits for a response with its whole body.
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

    /// Sends a request and waits for its response.
    pub(crate) fn ask(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.send(request)?;
        self.answer()
    }

    /// Returns the socket, and the bytes that were read from it and not used.
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

/// Formats a request without a body. `header` is empty or holds header lines without the last line break.
pub(crate) fn request(method: &str, path: &str, header: &str) -> Vec<u8> {
    let end = if header.is_empty() { "" } else { "\r\n" };
    format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{header}{end}\r\n").into_bytes()
}

/// Formats a `POST` request with a JSON body.
pub(crate) fn post(path: &str, body: &str) -> Vec<u8> {
    let header = format!("Content-Type: application/json\r\nContent-Length: {}", body.len());
    let mut request = request("POST", path, &header);
    request.extend_from_slice(body.as_bytes());
    request
}

/// Sends one request on a new connection and waits for its response.
pub(crate) fn once(address: SocketAddr, request: &[u8], patience: Duration) -> io::Result<Answer> {
    Connection::open(address)?.patience(patience)?.ask(request)
}
