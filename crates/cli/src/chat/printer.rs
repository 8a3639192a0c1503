//! Prints above a line that is being typed.
//!
//! The editor holds one text at a time, and takes none once the line has ended: whoever hands it another waits for the
//! next line. So a thread of its own does, and the conversation never.

use std::{
    sync::mpsc::{SyncSender, TrySendError, sync_channel},
    thread,
};

use rustyline::ExternalPrinter;

/// How many texts may wait to be shown.
const TEXTS_MAX: usize = 256;

/// What prints above the line.
pub(super) struct Printer(SyncSender<String>);

impl Printer {
    pub(super) fn new(mut printer: impl ExternalPrinter + Send + 'static) -> Self {
        let (texts, handed) = sync_channel::<String>(TEXTS_MAX);
        thread::spawn(move || handed.into_iter().try_for_each(|text| printer.print(text)));
        Self(texts)
    }

    /// Shows whole lines, now or with the next line that is typed; gives them back if too many wait.
    pub(super) fn print(&self, lines: String) -> Result<(), String> {
        self.0
            .try_send(lines)
            .map_err(|(TrySendError::Full(lines) | TrySendError::Disconnected(lines))| lines)
    }
}
