//! Prints above the line that the user is typing.
//!
//! rustyline's external printer holds one text, and takes the next only while a line is being edited: printing blocks from the
//! moment a line is entered until the next `readline`. A thread of its own absorbs that, so that the chat loop never blocks.

use std::{
    sync::mpsc::{SyncSender, TrySendError, sync_channel},
    thread,
};

use rustyline::ExternalPrinter;

/// How many texts may wait to be printed.
const TEXTS_MAX: usize = 256;

/// Prints above the line that the user is typing, without blocking the caller.
pub(super) struct BackgroundPrinter(SyncSender<String>);

impl BackgroundPrinter {
    pub(super) fn new(mut printer: impl ExternalPrinter + Send + 'static) -> Self {
        let (sender, texts) = sync_channel::<String>(TEXTS_MAX);
        thread::spawn(move || texts.into_iter().try_for_each(|text| printer.print(text)));
        Self(sender)
    }

    /// Prints whole lines, now or during the next `readline`. Returns them if too many texts wait.
    pub(super) fn print(&self, lines: String) -> Result<(), String> {
        self.0
            .try_send(lines)
            .map_err(|(TrySendError::Full(lines) | TrySendError::Disconnected(lines))| lines)
    }
}
