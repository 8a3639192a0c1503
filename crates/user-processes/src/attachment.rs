//! A viewer of a terminal.

use std::sync::Arc;

use bytes::Bytes;
use protocol::processes::TerminalSize;

use crate::{Error, Follower, entry::Entry};

/// Both directions of a terminal, split so that each can have its own owner. Dropping them leaves the process alone.
pub struct Attachment {
    /// What is shown.
    pub events: Follower,
    /// What is typed.
    pub input: Input,
}

/// The way to type on a terminal and to change its size.
#[derive(Clone)]
pub struct Input {
    pub(crate) entry: Arc<Entry>,
}

impl Input {
    /// Types `bytes`.
    ///
    /// # Errors
    /// [`Error::Busy`], [`Error::InputClosed`] and [`Error::Ended`].
    pub fn send(&self, bytes: Bytes) -> Result<(), Error> {
        self.entry.input(bytes)
    }

    /// Changes the size of the terminal, for all who look at it.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::Ended`] and [`Error::Refused`].
    pub fn resize(&self, size: TerminalSize) -> Result<(), Error> {
        self.entry.resize(size)
    }
}
