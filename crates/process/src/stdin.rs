//! The child's stdin: a bounded queue that never makes anyone wait, and the task that empties it.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

use crate::Limits;
use crate::life::Hold;
use crate::watched::watch_nonblocking;

/// How many messages go into one write. Each takes up to two of the 1 024 slices that the system allows.
const BATCH_MAX: usize = 64;

/// The child's stdin. It is closed when the last clone is dropped.
#[derive(Clone)]
pub struct Stdin {
    handle: Arc<Handle>,
}

struct Handle {
    queue: Arc<Queue>,
    _hold: Hold,
}

/// Why something was not queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The child does not read as fast as it is written to: try again later.
    #[error("the process does not read its input")]
    Full,
    /// The child has exited or has closed its stdin, or we have.
    #[error("the input of the process is closed")]
    Closed,
}

impl Stdin {
    pub(crate) fn new(queue: Arc<Queue>, hold: Hold) -> Self {
        Self { handle: Arc::new(Handle { queue, _hold: hold }) }
    }

    /// Queues a message without waiting. To a child that is spoken to in lines it is written with a `\n` at its end, in
    /// one piece; to others as it is.
    pub fn try_send(&self, message: Bytes) -> Result<(), SendError> {
        self.handle.queue.push(message)
    }

    /// Closes stdin once all that is queued was written.
    pub fn close(&self) {
        self.handle.queue.close();
    }
}

impl fmt::Debug for Stdin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdin").finish_non_exhaustive()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// What waits to be written.
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Notify,
    bytes_max: usize,
    messages_max: usize,
    /// Whether each message is to end in `\n`.
    lines: bool,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Bytes>,
    /// Waiting or being written.
    bytes: usize,
    messages: usize,
    closed: bool,
}

impl Queue {
    pub(crate) fn new(limits: &Limits, lines: bool) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            changed: Notify::new(),
            bytes_max: limits.stdin_queue_bytes_max,
            messages_max: limits.stdin_queue_max,
            lines,
        })
    }

    fn push(&self, message: Bytes) -> Result<(), SendError> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(SendError::Closed);
        }
        let bytes = state.bytes.saturating_add(message.len());
        if state.messages > 0 && (bytes > self.bytes_max || state.messages >= self.messages_max) {
            return Err(SendError::Full);
        }
        state.bytes = bytes;
        state.messages += 1;
        state.waiting.push_back(message);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Takes no more, and lets what is queued be written.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_one();
    }

    /// Takes no more and forgets what is queued: nobody will read it.
    pub(crate) fn shut(&self) {
        *self.state.lock() = State { closed: true, ..State::default() };
        self.changed.notify_one();
    }

    /// Waits for messages; `false` when there will be none.
    async fn take(&self, batch: &mut Vec<Bytes>) -> bool {
        loop {
            {
                let mut state = self.state.lock();
                if !state.waiting.is_empty() {
                    let count = state.waiting.len().min(BATCH_MAX);
                    batch.extend(state.waiting.drain(..count));
                    return true;
                }
                if state.closed {
                    return false;
                }
            }
            self.changed.notified().await;
        }
    }

    /// Makes room: `batch` was written.
    fn written(&self, batch: &mut Vec<Bytes>) {
        let mut state = self.state.lock();
        for message in batch.drain(..) {
            state.bytes = state.bytes.saturating_sub(message.len());
            state.messages = state.messages.saturating_sub(1);
        }
    }
}

/// Writes what is queued until the queue is closed or nobody reads, then closes the child's stdin.
pub(crate) struct Writer {
    fd: AsyncFd<OwnedFd>,
    queue: Arc<Queue>,
}

impl Writer {
    pub(crate) fn new(fd: OwnedFd, queue: Arc<Queue>) -> io::Result<Self> {
        Ok(Self { fd: watch_nonblocking(fd, Interest::WRITABLE)?, queue })
    }

    pub(crate) async fn run(self) {
        let mut batch = Vec::with_capacity(1);
        while self.queue.take(&mut batch).await {
            if self.write(&batch).await.is_err() {
                break; // EPIPE: the child has closed its stdin.
            }
            self.queue.written(&mut batch);
        }
        self.queue.shut();
    }

    async fn write(&self, batch: &[Bytes]) -> io::Result<()> {
        let (mut message, mut offset) = (0, 0);
        while message < batch.len() {
            let mut ready = self.fd.writable().await?;
            let rest = &batch[message..];
            match ready.try_io(|fd| self.write_some(fd.get_ref(), rest, offset)) {
                Ok(Ok(written)) => {
                    offset += written;
                    while message < batch.len() && offset >= self.length(&batch[message]) {
                        offset -= self.length(&batch[message]);
                        message += 1;
                    }
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Err(error),
                Err(_would_block) => {}
            }
        }
        Ok(())
    }

    /// Writes as much of `batch` as the pipe takes, without the first `skip` bytes, in one call and without a copy.
    fn write_some(&self, fd: &OwnedFd, batch: &[Bytes], skip: usize) -> io::Result<usize> {
        let mut slices = [IoSlice::new(b""); 2 * BATCH_MAX];
        let mut count = 0;
        for message in batch {
            slices[count] = IoSlice::new(message);
            count += 1;
            if self.length(message) > message.len() {
                slices[count] = IoSlice::new(b"\n");
                count += 1;
            }
        }
        let mut slices = &mut slices[..count];
        IoSlice::advance_slices(&mut slices, skip);
        Ok(rustix::io::writev(fd, slices)?)
    }

    /// How long a message is on the wire.
    fn length(&self, message: &[u8]) -> usize {
        let ends = !self.queue.lines || message.last() == Some(&b'\n');
        message.len() + usize::from(!ends)
    }
}
