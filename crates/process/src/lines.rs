//! The child's stdout as lines, read in the task of whoever asks.

use std::fmt;

use tokio::sync::watch;

use crate::framer::{Chunk, Framer};
use crate::life::{self, Hold, Life};
use crate::outlet::Outlet;

/// The child's stdout. Whoever does not read it makes the child wait once the pipe is full.
pub struct Lines {
    outlet: Outlet,
    framer: Framer,
    life: watch::Receiver<Life>,
    _hold: Hold,
}

impl Lines {
    pub(crate) fn new(
        outlet: Outlet,
        line_bytes_max: usize,
        life: watch::Receiver<Life>,
        hold: Hold,
    ) -> Self {
        Self { outlet, framer: Framer::new(line_bytes_max), life, _hold: hold }
    }

    /// Waits for more output and hands out every complete line of it. A chunk holds at least
    /// one. `None` is the end: every line was told, the process has exited and its stderr tail is complete.
    ///
    /// Cancel safe. Once the process has exited, the end comes [`SETTLE_IDLE`](crate::SETTLE_IDLE) after the last
    /// output at the latest, even if someone else holds the pipe open.
    pub async fn next(&mut self) -> Option<Chunk<'_>> {
        self.framer.release();
        while self.outlet.read(self.framer.space()).await > 0 {
            if self.framer.is_ready() {
                return Some(self.framer.chunk());
            }
        }
        self.framer.finish();
        if self.framer.is_ready() {
            return Some(self.framer.chunk());
        }
        life::reach(&mut self.life, Life::told).await;
        None
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").finish_non_exhaustive()
    }
}
