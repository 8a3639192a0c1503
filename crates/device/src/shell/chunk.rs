//! A piece of what a command writes.

use bytes::Bytes;
use process::ChildStream;

/// A piece of what a command writes. If all before and in it is text, it ends with a whole character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) stream: ChildStream,
    pub(super) bytes: Bytes,
}

impl Chunk {
    /// The name of its stream on the wire.
    pub(super) fn event(&self) -> &'static str {
        event(self.stream)
    }
}

pub(super) fn event(stream: ChildStream) -> &'static str {
    match stream {
        ChildStream::Stdout => "stdout",
        ChildStream::Stderr => "stderr",
    }
}
