//! A connection to the terminal of a process.

use std::sync::Arc;

use bytes::Bytes;
use protocol::processes::TerminalSize;

use crate::{Error, LogFollower, process_entry::ProcessEntry};

/// Both directions of a terminal, split so that each can have its own owner. Dropping them does not affect the process.
pub struct TerminalAttachment {
    /// The output.
    pub events: LogFollower,
    /// The input.
    pub input: AttachmentInput,
}

/// Types on a terminal and changes its size.
#[derive(Clone)]
pub struct AttachmentInput {
    pub(crate) entry: Arc<ProcessEntry>,
}

impl AttachmentInput {
    /// Types `bytes`.
    ///
    /// # Errors
    /// [`Error::Busy`], [`Error::InputClosed`] and [`Error::Ended`].
    pub fn send(&self, bytes: Bytes) -> Result<(), Error> {
        self.entry.send_input(bytes)
    }

    /// Changes the size of the terminal for all viewers.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::Ended`] and [`Error::Refused`].
    pub fn resize(&self, size: TerminalSize) -> Result<(), Error> {
        self.entry.resize(size)
    }
}
