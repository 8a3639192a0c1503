//! Reading from a pipe or terminal that the child writes to, and the rule that decides when its output has ended.
//!
//! The end of file is not enough: a grandchild that inherited the pipe keeps it open after the child has exited. So once the
//! child has exited, the reader first drains what the child may have left in the pipe (*draining*), then gives other writers
//! a short time (*settling*), and then ends.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::async_fd::watch_nonblocking;
use crate::life_stage::LifeStage;

/// After the child's exit, output ends when the pipe was silent for this long although another process holds it open.
// A process that learns of the exit at the same time as we do writes its last output within a few milliseconds.
pub const SETTLE_IDLE: Duration = Duration::from_millis(20);

/// After the child's exit, output of other processes is read for at most this long.
pub const SETTLE_MAX: Duration = Duration::from_millis(200);

/// The largest pipe that an unprivileged process can create: at most this much of the child's output is left in it.
const PIPE_BYTES_MAX: usize = 1 << 20;

/// A pipe or terminal that the child writes to. It ends when all writers have closed it or, after the child's exit, when it
/// is silent.
pub(crate) struct OutputSource {
    fd: AsyncFd<OwnedFd>,
    life: watch::Receiver<LifeStage>,
    /// Whether a read that returns less than requested means that the pipe is empty: true for pipes, not for terminals.
    short_read_is_empty: bool,
    phase: ReadPhase,
}

#[derive(Clone, Copy)]
enum ReadPhase {
    Running,
    /// The child has exited. All it wrote is among the next `left` bytes.
    Draining {
        left: usize,
    },
    /// All output of the child was read; other writers are read until then.
    Settling {
        until: Instant,
    },
    Ended,
}

impl OutputSource {
    pub(crate) fn pipe(fd: OwnedFd, life: watch::Receiver<LifeStage>) -> io::Result<Self> {
        Self::new(fd, life, true)
    }

    pub(crate) fn terminal(fd: OwnedFd, life: watch::Receiver<LifeStage>) -> io::Result<Self> {
        Self::new(fd, life, false)
    }

    fn new(fd: OwnedFd, life: watch::Receiver<LifeStage>, short_read_is_empty: bool) -> io::Result<Self> {
        let fd = watch_nonblocking(fd, Interest::READABLE)?;
        Ok(Self { fd, life, short_read_is_empty, phase: ReadPhase::Running })
    }

    /// Waits for output and appends it to the spare capacity of `buffer`; 0 is the end. Cancel safe.
    pub(crate) async fn read(&mut self, buffer: &mut Vec<u8>) -> usize {
        loop {
            // Check before each read: under continuous output the `select!` below never gets to the exit.
            if matches!(self.phase, ReadPhase::Running) && self.life.borrow().has_exited() {
                self.phase = ReadPhase::Draining { left: PIPE_BYTES_MAX };
            }
            let deadline = match self.phase {
                ReadPhase::Running => None,
                ReadPhase::Draining { .. } => Some(Instant::now() + SETTLE_IDLE),
                ReadPhase::Settling { until } => Some(until.min(Instant::now() + SETTLE_IDLE)),
                ReadPhase::Ended => return 0,
            };
            let Self { fd, life, .. } = self;
            let ready = match deadline {
                None => tokio::select! {
                    biased;
                    ready = fd.readable() => ready,
                    _ = life.wait_for(LifeStage::has_exited) => continue,
                },
                Some(deadline) => match timeout_at(deadline, fd.readable()).await {
                    Ok(ready) => ready,
                    Err(_) => return self.read_remaining(buffer),
                },
            };
            let Ok(mut ready) = ready else { return self.end() };
            let requested = buffer.capacity() - buffer.len();
            match ready.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), spare_capacity(buffer))?)) {
                Ok(Ok(0)) => return self.end(),
                Ok(Ok(read)) => {
                    let empty = self.short_read_is_empty && read < requested;
                    if empty {
                        // Saves the read that would only return EWOULDBLOCK.
                        ready.clear_ready();
                    }
                    self.record_read(read, empty);
                    return read;
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                // A terminal returns EIO when no process has it open any more.
                Ok(Err(_)) => return self.end(),
                Err(_would_block) => self.record_empty(),
            }
        }
    }

    /// Reads without waiting for readiness: the readiness notification may lag behind, but all that the child wrote before its
    /// exit is in the pipe now.
    fn read_remaining(&mut self, buffer: &mut Vec<u8>) -> usize {
        match rustix::io::read(self.fd.get_ref(), spare_capacity(buffer)) {
            Ok(read) if read > 0 && matches!(self.phase, ReadPhase::Draining { .. }) => {
                self.record_read(read, false);
                read
            }
            _ => self.end(),
        }
    }

    fn record_read(&mut self, read: usize, empty: bool) {
        if let ReadPhase::Draining { left } = &mut self.phase {
            *left = left.saturating_sub(read);
            if empty || *left == 0 {
                self.record_empty();
            }
        } else if let ReadPhase::Settling { until } = self.phase
            && Instant::now() >= until
        {
            self.phase = ReadPhase::Ended;
        }
    }

    fn record_empty(&mut self) {
        if let ReadPhase::Draining { .. } = self.phase {
            self.phase = ReadPhase::Settling { until: Instant::now() + SETTLE_MAX };
        }
    }

    fn end(&mut self) -> usize {
        self.phase = ReadPhase::Ended;
        0
    }
}
