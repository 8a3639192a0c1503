//! The owner of a process: takes what it writes into its journal, and tells its end.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use journal::Writer;
use process::Outputs;
use protocol::processes::{OutputStream, ProcessExit};

use crate::{entry::Entry, frame};

/// How long to wait before looking again whether the readers have caught up.
const PAUSE: Duration = Duration::from_millis(1);

pub(crate) struct Owner {
    pub(crate) entry: Arc<Entry>,
    pub(crate) outputs: Outputs,
    pub(crate) journal: Writer,
    pub(crate) encoder: frame::Encoder,
}

impl Owner {
    /// Runs until the process has ended and all it wrote was taken.
    pub(crate) async fn run(mut self) {
        while let Some(output) = self.outputs.next().await {
            let stream = match output.stream {
                process::Stream::Stdout => OutputStream::Stdout,
                process::Stream::Stderr => OutputStream::Stderr,
            };
            self.append(stream, &output.bytes);
            // A reader that keeps up loses nothing; one that has stalled is not waited for.
            while !self.entry.stopping.is_cancelled() && self.journal.pressed(Instant::now()) {
                tokio::time::sleep(PAUSE).await;
            }
        }
        let exit = self.entry.control.wait().await;
        self.end(ProcessExit { code: exit.code, signal: exit.signal, at: Timestamp::now() });
    }

    fn append(&mut self, stream: OutputStream, bytes: &[u8]) {
        let Self { journal, encoder, .. } = self;
        let mut batch = journal.batch();
        batch.push(|_, out| encoder.output(stream, Timestamp::now(), bytes, out));
        batch.append();
    }

    /// Whoever reads of the end finds the process ended, and whoever waited for it finds the log complete.
    fn end(self, exit: ProcessExit) {
        let Self { entry, mut journal, mut encoder, .. } = self;
        let _ = entry.exit.set(exit);
        for stream in [OutputStream::Stdout, OutputStream::Stderr] {
            if encoder.has_rest(stream) {
                let mut batch = journal.batch();
                batch.push(|_, out| {
                    encoder.rest(stream, exit.at, out);
                });
                batch.append();
            }
        }
        let mut batch = journal.batch();
        batch.push(|_, out| frame::exited(&exit, out));
        batch.append();
        drop(journal);
        entry.ended.cancel();
    }
}
