//! One end of a pipe or terminal that the child writes to, and the rule by which its output ends.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::life::Life;
use crate::watched::watch_nonblocking;

/// How long the output must be silent, once the child has exited, to be over although someone holds the pipe open.
// A process that was told of the exit at the same time as we were writes its last words within a few milliseconds.
pub const SETTLE_IDLE: Duration = Duration::from_millis(20);

/// How long others may go on writing after the child has exited before we stop listening.
pub const SETTLE_MAX: Duration = Duration::from_millis(200);

/// What may have been in the pipe when the child exited: an unprivileged process cannot make a larger one.
const PIPE_BYTES_MAX: usize = 1 << 20;

/// What the child writes to. It ends when everyone has closed it or, once the child has exited, when it is silent.
pub(crate) struct Outlet {
    fd: AsyncFd<OwnedFd>,
    life: watch::Receiver<Life>,
    /// Whether reading less than was asked for means that there is no more: so for pipes, not for terminals.
    short_means_empty: bool,
    phase: Phase,
}

#[derive(Clone, Copy)]
enum Phase {
    Running,
    /// The child has exited. What it wrote is in the pipe still, among the next `left` bytes.
    Draining {
        left: usize,
    },
    /// All it wrote was read; others are heard until then.
    Settling {
        until: Instant,
    },
    Ended,
}

impl Outlet {
    pub(crate) fn pipe(fd: OwnedFd, life: watch::Receiver<Life>) -> io::Result<Self> {
        Self::new(fd, life, true)
    }

    pub(crate) fn terminal(fd: OwnedFd, life: watch::Receiver<Life>) -> io::Result<Self> {
        Self::new(fd, life, false)
    }

    fn new(fd: OwnedFd, life: watch::Receiver<Life>, short_means_empty: bool) -> io::Result<Self> {
        let fd = watch_nonblocking(fd, Interest::READABLE)?;
        Ok(Self { fd, life, short_means_empty, phase: Phase::Running })
    }

    /// Waits for output and appends it to the free space of `buffer`; 0 is the end. Cancel safe.
    pub(crate) async fn read(&mut self, buffer: &mut Vec<u8>) -> usize {
        loop {
            // A flood must not hide the exit, so we look each time.
            if matches!(self.phase, Phase::Running) && self.life.borrow().has_exited() {
                self.phase = Phase::Draining { left: PIPE_BYTES_MAX };
            }
            let deadline = match self.phase {
                Phase::Running => None,
                Phase::Draining { .. } => Some(Instant::now() + SETTLE_IDLE),
                Phase::Settling { until } => Some(until.min(Instant::now() + SETTLE_IDLE)),
                Phase::Ended => return 0,
            };
            let Self { fd, life, .. } = self;
            let ready = match deadline {
                None => tokio::select! {
                    biased;
                    ready = fd.readable() => ready,
                    _ = life.wait_for(Life::has_exited) => continue,
                },
                Some(deadline) => match timeout_at(deadline, fd.readable()).await {
                    Ok(ready) => ready,
                    Err(_) => return self.last(buffer),
                },
            };
            let Ok(mut ready) = ready else { return self.end() };
            let asked = buffer.capacity() - buffer.len();
            match ready.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), spare_capacity(buffer))?)) {
                Ok(Ok(0)) => return self.end(),
                Ok(Ok(read)) => {
                    let empty = self.short_means_empty && read < asked;
                    if empty {
                        // Spares the call that would only say so.
                        ready.clear_ready();
                    }
                    self.took(read, empty);
                    return read;
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                // EIO is how a terminal says that nobody has it open any more.
                Ok(Err(_)) => return self.end(),
                Err(_would_block) => self.found_empty(),
            }
        }
    }

    /// Reads once more without waiting to be told: whatever the child wrote before it exited is there now.
    fn last(&mut self, buffer: &mut Vec<u8>) -> usize {
        match rustix::io::read(self.fd.get_ref(), spare_capacity(buffer)) {
            Ok(read) if read > 0 && matches!(self.phase, Phase::Draining { .. }) => {
                self.took(read, false);
                read
            }
            _ => self.end(),
        }
    }

    fn took(&mut self, read: usize, empty: bool) {
        if let Phase::Draining { left } = &mut self.phase {
            *left = left.saturating_sub(read);
            if empty || *left == 0 {
                self.found_empty();
            }
        } else if let Phase::Settling { until } = self.phase
            && Instant::now() >= until
        {
            self.phase = Phase::Ended;
        }
    }

    fn found_empty(&mut self) {
        if let Phase::Draining { .. } = self.phase {
            self.phase = Phase::Settling { until: Instant::now() + SETTLE_MAX };
        }
    }

    fn end(&mut self) -> usize {
        self.phase = Phase::Ended;
        0
    }
}
