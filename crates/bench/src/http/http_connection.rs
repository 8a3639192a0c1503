//! A blocking HTTP/1.1 connection with one request at a time.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use super::{
    chunked_decoder::ChunkedDecoder,
    response_head::{BodyFraming, ResponseHead},
};

/// The most that one read returns.
const READ_BYTES: usize = 64 << 10;

/// A response with its whole body.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// A keep-alive connection to a server.
#[derive(Debug)]
pub(crate) struct HttpConnection {
    stream: TcpStream,
    /// Bytes that were read from the socket and not used yet.
    buffer: Vec<u8>,
}

impl HttpConnection {
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// Sets the read timeout. A read that takes longer fails with `WouldBlock`.
    pub(crate) fn with_read_timeout(self, time: Duration) -> io::Result<Self> {
        self.stream.set_read_timeout(Some(time))?;
        Ok(self)
    }

    /// Sends the bytes of a request, unchanged.
    pub(crate) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request)
    }

    /// Waits for the head of a response. Body bytes that arrived with it stay in the buffer.
    pub(crate) fn read_head(&mut self) -> io::Result<ResponseHead> {
        loop {
            if let Some(head) = ResponseHead::parse(&self.buffer) {
                self.buffer.drain(..head.bytes);
                return Ok(head);
            }
            self.fill()?;
        }
    }

    /// Waits for a response with its whole body.
    pub(crate) fn read_response(&mut self) -> io::Result<HttpResponse> {
        let ResponseHead { status, framing, .. } = self.read_head()?;
        let mut body = Vec::new();
        match framing {
            BodyFraming::Length(length) => {
                while self.buffer.len() < length {
                    self.fill()?;
                }
                body.extend(self.buffer.drain(..length));
            }
            BodyFraming::Chunked => {
                let mut decoder = ChunkedDecoder::default();
                loop {
                    decoder.feed(&self.buffer, |bytes| body.extend_from_slice(bytes));
                    self.buffer.clear();
                    if decoder.is_complete() {
                        break;
                    }
                    self.fill()?;
                }
            }
        }
        Ok(HttpResponse { status, body })
    }

    /// Sends a request and waits for its response.
    pub(crate) fn request(&mut self, request: &[u8]) -> io::Result<HttpResponse> {
        self.send(request)?;
        self.read_response()
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
