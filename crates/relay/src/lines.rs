//! A transport of lines, for programs on the same machine.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use protocol::relay::Packet;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{CloseCode, Limits, Lost, Transport};

/// The size of a read.
const READ_BYTES: usize = 16 << 10;

/// The size of the write buffer. Urgent messages cannot overtake what is in it, so it is small.
const WRITE_BYTES_MAX: usize = 16 << 10;

/// A transport over a byte stream, such as a Unix socket, with one message on each line. The counterpart of a WebSocket close frame
/// is a last line `{"close":{"code":1000,"reason":"…"}}`.
#[derive(Debug)]
pub struct Lines<S> {
    stream: S,
    line_bytes_max: usize,
    heard: Vec<u8>,
    /// The length of the received bytes that are known to contain no line break.
    scanned: usize,
    unwritten: Vec<u8>,
    written: usize,
}

/// The last line, which closes the connection.
#[derive(Serialize, Deserialize)]
struct Last {
    close: Close,
}

#[derive(Serialize, Deserialize)]
struct Close {
    code: u16,
    reason: String,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Lines<S> {
    /// A transport over `stream`. Lines longer than the limit end the connection and are not buffered.
    pub fn new(stream: S, limits: &Limits) -> Self {
        Self {
            stream,
            line_bytes_max: limits.frame_bytes_max,
            heard: Vec::new(),
            scanned: 0,
            unwritten: Vec::new(),
            written: 0,
        }
    }

    /// The next received line, without its line break.
    fn line(&mut self) -> Result<Option<String>, Lost> {
        let too_long = || Lost::fault(CloseCode::TooLarge, "the message is too large");
        let Some(end) = memchr::memchr(b'\n', &self.heard[self.scanned..]) else {
            self.scanned = self.heard.len();
            return if self.scanned > self.line_bytes_max { Err(too_long()) } else { Ok(None) };
        };
        let rest = self.heard.split_off(self.scanned + end + 1);
        let mut line = std::mem::replace(&mut self.heard, rest);
        self.scanned = 0;
        line.pop();
        if line.len() > self.line_bytes_max {
            return Err(too_long());
        }
        let text = String::from_utf8(line)
            .map_err(|_| Lost::fault(CloseCode::Invalid, "the message is not UTF-8 text"))?;
        match text.starts_with("{\"close\":").then(|| serde_json::from_str(&text)) {
            Some(Ok(Last { close: Close { code, reason } })) => Err(Lost::Closed { code, reason }),
            _ => Ok(Some(text)),
        }
    }

    fn poll_write_all(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        while self.written < self.unwritten.len() {
            let rest = &self.unwritten[self.written..];
            match ready!(Pin::new(&mut self.stream).poll_write(context, rest)) {
                Ok(0) => return Poll::Ready(Err(Lost::Gone)),
                Ok(written) => self.written += written,
                Err(_) => return Poll::Ready(Err(Lost::Gone)),
            }
        }
        self.unwritten.clear();
        self.written = 0;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Transport for Lines<S> {
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<Packet, Lost>> {
        loop {
            match self.line() {
                Ok(Some(line)) if line.trim().is_empty() => continue,
                Ok(Some(line)) => return Poll::Ready(Ok(line.into())),
                Err(lost) => return Poll::Ready(Err(lost)),
                Ok(None) => {}
            }
            let mut space = [0; READ_BYTES];
            let mut space = ReadBuf::new(&mut space);
            match ready!(Pin::new(&mut self.stream).poll_read(context, &mut space)) {
                Ok(()) if space.filled().is_empty() => return Poll::Ready(Err(Lost::Gone)),
                Ok(()) => self.heard.extend_from_slice(space.filled()),
                Err(_) => return Poll::Ready(Err(Lost::Gone)),
            }
        }
    }

    fn carries_bytes(&self) -> bool {
        false
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        if self.unwritten.len() - self.written < WRITE_BYTES_MAX {
            return Poll::Ready(Ok(()));
        }
        self.poll_write_all(context)
    }

    fn send(&mut self, packet: Packet) -> Result<(), Lost> {
        let Packet::Text(text) = packet else {
            return Err(Lost::policy("binary messages are not possible on a line transport"));
        };
        // Forwarded JSON may contain line breaks between its tokens, never within a string, so a blank can replace them.
        self.unwritten.extend(text.bytes().map(|byte| if byte == b'\n' { b' ' } else { byte }));
        self.unwritten.push(b'\n');
        Ok(())
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        ready!(self.poll_write_all(context))?;
        Pin::new(&mut self.stream).poll_flush(context).map_err(|_| Lost::Gone)
    }

    fn close(&mut self, code: CloseCode, reason: String) {
        let last = Last { close: Close { code: code.number(), reason } };
        if let Ok(text) = serde_json::to_string(&last) {
            let _ = self.send(text.into());
        }
    }
}
