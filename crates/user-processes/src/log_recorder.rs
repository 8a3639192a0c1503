//! The task that records the output and the exit of one process.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use journal::RingWriter;
use process::{ChildStream, OutputReader};
use protocol::processes::{OutputStream, ProcessExit};

use crate::{log_frame, log_frame::LogEncoder, process_entry::ProcessEntry};

/// The pause between two checks whether the readers have caught up.
const CATCH_UP_INTERVAL: Duration = Duration::from_millis(1);

pub(crate) struct LogRecorder {
    pub(crate) entry: Arc<ProcessEntry>,
    pub(crate) outputs: OutputReader,
    pub(crate) journal: RingWriter,
    pub(crate) encoder: LogEncoder,
}

impl LogRecorder {
    /// Runs until the process has exited and all its output is recorded.
    pub(crate) async fn run(mut self) {
        while let Some(output) = self.outputs.next().await {
            let stream = match output.stream {
                ChildStream::Stdout => OutputStream::Stdout,
                ChildStream::Stderr => OutputStream::Stderr,
            };
            self.record(stream, &output.bytes);
            // Let readers that keep up catch up, so that they lose nothing; `should_pause` ignores stalled ones.
            while !self.entry.stopping.is_cancelled() && self.journal.should_pause(Instant::now()) {
                tokio::time::sleep(CATCH_UP_INTERVAL).await;
            }
        }
        let exit = self.entry.control.wait().await;
        self.finish(ProcessExit { code: exit.code, signal: exit.signal, exited_at: Timestamp::now() });
    }

    fn record(&mut self, stream: OutputStream, bytes: &[u8]) {
        let Self { journal, encoder, .. } = self;
        let mut batch = journal.batch();
        batch.push(|_, out| encoder.encode_output(stream, Timestamp::now(), bytes, out));
        batch.append();
    }

    /// Records the exit. The order matters: `exit` is set before the journal contains it, so that a reader of the event finds
    /// the process exited; `ended` is cancelled last, so that a waiting caller finds the log complete.
    fn finish(self, exit: ProcessExit) {
        let Self { entry, mut journal, mut encoder, .. } = self;
        let _ = entry.exit.set(exit);
        for stream in [OutputStream::Stdout, OutputStream::Stderr] {
            if encoder.has_carry(stream) {
                let mut batch = journal.batch();
                batch.push(|_, out| {
                    encoder.encode_carry(stream, exit.exited_at, out);
                });
                batch.append();
            }
        }
        let mut batch = journal.batch();
        batch.push(|_, out| log_frame::encode_exit(&exit, out));
        batch.append();
        drop(journal);
        entry.ended.cancel();
    }
}
