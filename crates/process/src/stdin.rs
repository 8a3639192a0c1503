//! The child's stdin: a bounded queue that never blocks the sender, and the task that writes it to the pipe.

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

use crate::ProcessLimits;
use crate::async_fd::watch_nonblocking;
use crate::life_stage::AliveGuard;

/// The number of messages in one write. Each takes up to two of the 1,024 slices that the system allows.
const BATCH_MAX: usize = 64;

/// The child's stdin. It is closed when the last clone is dropped.
#[derive(Clone)]
pub struct ProcessStdin {
    handle: Arc<StdinHandle>,
}

struct StdinHandle {
    queue: Arc<StdinQueue>,
    _guard: AliveGuard,
}

/// Why a message was not queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StdinSendError {
    /// The child does not read fast enough; retry later.
    #[error("the process does not read its input fast enough; try again later")]
    Full,
    /// The child has exited or closed its stdin, or [`ProcessStdin::close`] was called.
    #[error("the input of the process is closed")]
    Closed,
}

impl ProcessStdin {
    pub(crate) fn new(queue: Arc<StdinQueue>, guard: AliveGuard) -> Self {
        Self { handle: Arc::new(StdinHandle { queue, _guard: guard }) }
    }

    /// Queues a message without waiting. For a child with a line protocol, `\n` is added if the message does not end with it.
    ///
    /// # Errors
    /// [`StdinSendError`] when the queue is full or closed.
    pub fn try_send(&self, message: Bytes) -> Result<(), StdinSendError> {
        self.handle.queue.push(message)
    }

    /// Closes stdin after the queued messages were written.
    pub fn close(&self) {
        self.handle.queue.close();
    }
}

impl fmt::Debug for ProcessStdin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessStdin").finish_non_exhaustive()
    }
}

impl Drop for StdinHandle {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// The messages to write.
pub(crate) struct StdinQueue {
    state: Mutex<QueueState>,
    changed: Notify,
    bytes_max: usize,
    messages_max: usize,
    /// Whether `\n` is added to messages that do not end with it.
    lines: bool,
}

#[derive(Default)]
struct QueueState {
    messages: VecDeque<Bytes>,
    /// The size of the messages that are queued or being written.
    bytes: usize,
    /// The number of messages that are queued or being written.
    count: usize,
    closed: bool,
}

impl StdinQueue {
    pub(crate) fn new(limits: &ProcessLimits, lines: bool) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            changed: Notify::new(),
            bytes_max: limits.stdin_queue_bytes_max,
            messages_max: limits.stdin_queue_max,
            lines,
        })
    }

    fn push(&self, message: Bytes) -> Result<(), StdinSendError> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(StdinSendError::Closed);
        }
        let bytes = state.bytes.saturating_add(message.len());
        if state.count > 0 && (bytes > self.bytes_max || state.count >= self.messages_max) {
            return Err(StdinSendError::Full);
        }
        state.bytes = bytes;
        state.count += 1;
        state.messages.push_back(message);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Accepts no more messages; the queued ones are still written.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_one();
    }

    /// Accepts no more messages and discards the queued ones, as the child will not read them.
    pub(crate) fn discard(&self) {
        *self.state.lock() = QueueState { closed: true, ..QueueState::default() };
        self.changed.notify_one();
    }

    /// Waits for messages and moves them to `batch`; `false` when the queue is closed and empty.
    async fn take_batch(&self, batch: &mut Vec<Bytes>) -> bool {
        loop {
            {
                let mut state = self.state.lock();
                if !state.messages.is_empty() {
                    let count = state.messages.len().min(BATCH_MAX);
                    batch.extend(state.messages.drain(..count));
                    return true;
                }
                if state.closed {
                    return false;
                }
            }
            self.changed.notified().await;
        }
    }

    /// Makes room in the queue after `batch` was written.
    fn finish_batch(&self, batch: &mut Vec<Bytes>) {
        let mut state = self.state.lock();
        for message in batch.drain(..) {
            state.bytes = state.bytes.saturating_sub(message.len());
            state.count = state.count.saturating_sub(1);
        }
    }
}

/// Writes the queued messages until the queue is closed or the child closes its stdin, then closes the pipe.
pub(crate) struct StdinWriter {
    fd: AsyncFd<OwnedFd>,
    queue: Arc<StdinQueue>,
}

impl StdinWriter {
    pub(crate) fn new(fd: OwnedFd, queue: Arc<StdinQueue>) -> io::Result<Self> {
        Ok(Self { fd: watch_nonblocking(fd, Interest::WRITABLE)?, queue })
    }

    pub(crate) async fn run(self) {
        let mut batch = Vec::with_capacity(1);
        while self.queue.take_batch(&mut batch).await {
            if self.write(&batch).await.is_err() {
                break; // EPIPE: the child has closed its stdin.
            }
            self.queue.finish_batch(&mut batch);
        }
        self.queue.discard();
    }

    async fn write(&self, batch: &[Bytes]) -> io::Result<()> {
        let mut message = 0;
        let mut offset = 0;
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

    /// Writes as much of `batch` as the pipe accepts, without the first `skip` bytes, in one call and without copying.
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

    /// The size of a message in the pipe, including an added `\n`.
    fn length(&self, message: &[u8]) -> usize {
        let needs_newline = self.queue.lines && message.last() != Some(&b'\n');
        message.len() + usize::from(needs_newline)
    }
}
