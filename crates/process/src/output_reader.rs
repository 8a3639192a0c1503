//! The child's output as bytes: the raw counterpart of `StdoutLines`.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::READ_BYTES;
use crate::life_stage::{self, AliveGuard, LifeStage};
use crate::output_source::OutputSource;
use crate::stderr_tail::StderrTail;

/// The stream that output was written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildStream {
    /// Stdout, or the terminal.
    Stdout,
    /// Stderr.
    Stderr,
}

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessOutput {
    /// The stream it was written to.
    pub stream: ChildStream,
    /// At most [`READ_BYTES`].
    pub bytes: Bytes,
}

/// The child's stdout and stderr in the order in which they were read. Nothing is read ahead: if the caller does not read,
/// the child blocks once its pipes are full.
pub struct OutputReader {
    stdout: OutputSource,
    /// `None` for a terminal, which has only one stream.
    stderr: Option<OutputSource>,
    buffers: [Vec<u8>; 2],
    stderr_tail: Arc<Mutex<StderrTail>>,
    life: watch::Receiver<LifeStage>,
    _guard: AliveGuard,
}

impl OutputReader {
    pub(crate) fn new(
        stdout: OutputSource,
        stderr: Option<OutputSource>,
        stderr_tail: Arc<Mutex<StderrTail>>,
        life: watch::Receiver<LifeStage>,
        guard: AliveGuard,
    ) -> Self {
        Self { stdout, stderr, buffers: [Vec::new(), Vec::new()], stderr_tail, life, _guard: guard }
    }

    /// Waits for the next output. `None` is the end: all output was returned and the process has exited. Cancel safe.
    pub async fn next(&mut self) -> Option<ProcessOutput> {
        let [out, err] = &mut self.buffers;
        for buffer in [&mut *out, &mut *err] {
            buffer.clear();
            buffer.reserve_exact(READ_BYTES);
        }
        let stream = match &mut self.stderr {
            Some(stderr) => tokio::select! {
                1.. = self.stdout.read(out) => ChildStream::Stdout,
                1.. = stderr.read(err) => ChildStream::Stderr,
                else => return self.end().await,
            },
            None => match self.stdout.read(out).await {
                0 => return self.end().await,
                _ => ChildStream::Stdout,
            },
        };
        let bytes = match stream {
            ChildStream::Stdout => Bytes::copy_from_slice(out),
            ChildStream::Stderr => {
                self.stderr_tail.lock().push(err);
                Bytes::copy_from_slice(err)
            }
        };
        Some(ProcessOutput { stream, bytes })
    }

    async fn end(&mut self) -> Option<ProcessOutput> {
        life_stage::wait_for_exit(&mut self.life, LifeStage::reported_exit).await;
        None
    }
}

impl fmt::Debug for OutputReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputReader").finish_non_exhaustive()
    }
}
