//! What carries a frame: one message of a WebSocket.

use bytes::{BufMut, Bytes, BytesMut};

use super::{Frame, Malformed, Response};

/// What a side says in its hello, and the other in its acceptance, if it takes the bytes of a file in a binary message
///.
pub const BINARY_READ: &str = "file.read.binary";

/// The length of a frame, before it.
const LENGTH_BYTES: usize = size_of::<u32>();

/// One message of a WebSocket, with one frame in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packet {
    /// The frame.
    Text(String),
    /// A response whose result has bytes: the length of the frame in four bytes, the largest first; the frame; the bytes.
    Binary(Bytes),
}

impl Packet {
    /// How long it is.
    pub fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Binary(bytes) => bytes.len(),
        }
    }

    /// Reads a binary message, whose bytes are shared and not copied.
    ///
    /// # Errors
    /// If it is no response with a result.
    pub fn read(message: &Bytes) -> Result<Response, Malformed> {
        let malformed = |reason: &str| Malformed { reason: reason.into(), request: None };
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
        // A frame fits in far less than four gigabytes.
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
