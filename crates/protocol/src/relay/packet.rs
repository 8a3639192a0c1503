//! WebSocket messages that carry frames.

use bytes::{BufMut, Bytes, BytesMut};

use super::{Frame, MalformedFrame, Response};

/// Protocol extension: the results of `file.read` may carry raw bytes in a binary message. A device announces it in
/// its hello, and the relay server confirms it when it accepts the connection.
pub const BINARY_READ: &str = "file.read.binary";

/// Length of the prefix that holds the length of the frame.
const LENGTH_BYTES: usize = size_of::<u32>();

/// A WebSocket message with one frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packet {
    /// The frame as JSON text.
    Text(String),
    /// A response with attached bytes: the length of the frame as a big-endian `u32`, the frame, the bytes.
    Binary(Bytes),
}

impl Packet {
    /// Length of the message in bytes.
    pub fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Binary(bytes) => bytes.len(),
        }
    }

    /// Parses a binary message. The attached bytes share its buffer instead of being copied.
    ///
    /// # Errors
    /// Fails if the message is not a response with a result.
    pub fn read(message: &Bytes) -> Result<Response, MalformedFrame> {
        let malformed = |reason: &str| MalformedFrame { reason: reason.into(), request: None };
        let frame = message.split_first_chunk::<LENGTH_BYTES>().and_then(|(length, rest)| {
            let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
            Some((rest.get(..length)?, LENGTH_BYTES + length))
        });
        let (frame, end) = frame.ok_or_else(|| malformed("a binary message is cut off"))?;
        let frame =
            std::str::from_utf8(frame).map_err(|_| malformed("the frame of a binary message is no text"))?;
        match Frame::read(frame)? {
            Frame::Response(Response { id, outcome: Ok(result) }) => {
                Ok(Response { id, outcome: Ok(result.with_bytes(message.slice(end..))) })
            }
            _ => Err(malformed("a binary message is a response with a result")),
        }
    }
}

impl From<Response> for Packet {
    fn from(response: Response) -> Self {
        let bytes = match &response.outcome {
            Ok(result) => result.bytes().clone(),
            Err(_) => Bytes::new(),
        };
        let text = Frame::Response(response).write();
        // Message limits are far below four gigabytes, so the length of a frame always fits.
        let Some(length) = u32::try_from(text.len()).ok().filter(|_| !bytes.is_empty()) else {
            return Self::Text(text);
        };
        let mut message = BytesMut::with_capacity(LENGTH_BYTES + text.len() + bytes.len());
        message.put_u32(length);
        message.put_slice(text.as_bytes());
        message.put_slice(&bytes);
        Self::Binary(message.freeze())
    }
}

impl From<String> for Packet {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

#[cfg(test)]
mod tests;
