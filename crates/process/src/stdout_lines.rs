//! The child's stdout as lines, read in the caller's task.

use std::fmt;

use tokio::sync::watch;

use crate::life_stage::{self, AliveGuard, LifeStage};
use crate::line_framer::{LineChunk, LineFramer};
use crate::output_source::OutputSource;

/// The child's stdout. If the caller does not read it, the child blocks once the pipe is full.
pub struct StdoutLines {
    source: OutputSource,
    framer: LineFramer,
    life: watch::Receiver<LifeStage>,
    _guard: AliveGuard,
}

impl StdoutLines {
    pub(crate) fn new(
        source: OutputSource,
        line_bytes_max: usize,
        life: watch::Receiver<LifeStage>,
        guard: AliveGuard,
    ) -> Self {
        Self { source, framer: LineFramer::new(line_bytes_max), life, _guard: guard }
    }

    /// Waits for output and returns the complete lines, at least one. `None` is the end: all lines were returned, the process
    /// has exited and its stderr tail is complete.
    ///
    /// Cancel safe. Once the process has exited, the end comes at most [`SETTLE_IDLE`](crate::SETTLE_IDLE) after the last output,
    /// even if another process holds the pipe open.
    pub async fn next(&mut self) -> Option<LineChunk<'_>> {
        self.framer.release();
        while self.source.read(self.framer.space()).await > 0 {
            if self.framer.is_ready() {
                return Some(self.framer.chunk());
            }
        }
        self.framer.finish();
        if self.framer.is_ready() {
            return Some(self.framer.chunk());
        }
        life_stage::wait_for_exit(&mut self.life, LifeStage::reported_exit).await;
        None
    }
}

impl fmt::Debug for StdoutLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdoutLines").finish_non_exhaustive()
    }
}
