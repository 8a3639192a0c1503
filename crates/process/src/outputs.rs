//! What the child writes, as it comes: the raw counterpart of `Lines`.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::READ_BYTES;
use crate::life::{self, Hold, Life};
use crate::outlet::Outlet;
use crate::stderr::Ring;

/// Which stream something was written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Its stdout, or its terminal.
    Stdout,
    /// Its stderr.
    Stderr,
}

/// Something the child wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Where it was written to.
    pub stream: Stream,
    /// At most [`READ_BYTES`] of it.
    pub bytes: Bytes,
}

/// The child's stdout and stderr in the order in which they were read. Nothing is read ahead: whoever does not ask makes
/// the child wait once its pipes are full.
pub struct Outputs {
    stdout: Outlet,
    /// A terminal has one stream only.
    stderr: Option<Outlet>,
    buffers: [Vec<u8>; 2],
    ring: Arc<Mutex<Ring>>,
    life: watch::Receiver<Life>,
    _hold: Hold,
}

impl Outputs {
    pub(crate) fn new(
        stdout: Outlet,
        stderr: Option<Outlet>,
        ring: Arc<Mutex<Ring>>,
        life: watch::Receiver<Life>,
        hold: Hold,
    ) -> Self {
        Self { stdout, stderr, buffers: [Vec::new(), Vec::new()], ring, life, _hold: hold }
    }

    /// Waits for the next output. `None` is the end: all was told and the process has exited. Cancel safe.
    pub async fn next(&mut self) -> Option<Output> {
        let [out, err] = &mut self.buffers;
        for buffer in [&mut *out, &mut *err] {
            buffer.clear();
            buffer.reserve_exact(READ_BYTES);
        }
        let stream = match &mut self.stderr {
            Some(stderr) => tokio::select! {
                1.. = self.stdout.read(out) => Stream::Stdout,
                1.. = stderr.read(err) => Stream::Stderr,
                else => return self.end().await,
            },
            None => match self.stdout.read(out).await {
                0 => return self.end().await,
                _ => Stream::Stdout,
            },
        };
        let bytes = match stream {
            Stream::Stdout => Bytes::copy_from_slice(out),
            Stream::Stderr => {
                self.ring.lock().push(err);
                Bytes::copy_from_slice(err)
            }
        };
        Some(Output { stream, bytes })
    }

    async fn end(&mut self) -> Option<Output> {
        life::reach(&mut self.life, Life::told).await;
        None
    }
}

impl fmt::Debug for Outputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outputs").finish_non_exhaustive()
    }
}
