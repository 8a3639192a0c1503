//! The outputs of a command as separate streams.

use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

use futures_util::{Stream, StreamExt, task::AtomicWaker};
use parking_lot::Mutex;

use super::{Command, Error, Outcome, Said};

/// The buffered bytes of one output while only the other is read. When the buffer is full, reading the other waits too.
const PIPE_BYTES_MAX: usize = 256 << 10;

/// The outputs of a command as separate streams, and its outcome. Dropping all three before the end stops the command.
pub fn split(command: Command) -> (Pipe, Pipe, impl Future<Output = Outcome> + Send) {
    let all = Arc::new(All::default());
    let shared = Shared { command, ends: [End::new(), End::new()], outcome: None, all };
    let shared = Arc::new(Mutex::new(shared));
    let [stdout, stderr] = [0, 1].map(|which| Pipe { shared: shared.clone(), which });
    let outcome = poll_fn(move |context| shared.lock().poll_outcome(context));
    (stdout, stderr, outcome)
}

/// One output of a command as a stream of bytes.
#[derive(Debug)]
pub struct Pipe {
    shared: Arc<Mutex<Shared>>,
    which: usize,
}

#[derive(Debug)]
struct Shared {
    command: Command,
    ends: [End; 2],
    outcome: Option<Outcome>,
    all: Arc<All>,
}

/// The buffer of one output.
#[derive(Debug)]
struct End {
    pieces: VecDeque<Vec<u8>>,
    bytes: usize,
    is_read: bool,
}

/// The wakers of both readers and of the future of the outcome. Any event may be for any of them, so all are woken.
#[derive(Debug, Default)]
struct All([AtomicWaker; 3]);

impl Wake for All {
    fn wake(self: Arc<Self>) {
        self.0.iter().for_each(AtomicWaker::wake);
    }
}

impl End {
    fn new() -> Self {
        Self { pieces: VecDeque::new(), bytes: 0, is_read: true }
    }
}

impl Shared {
    /// Reads events of the command until none is available or a buffer is full.
    fn pull(&mut self) {
        let waker = Waker::from(self.all.clone());
        let mut context = Context::from_waker(&waker);
        let mut came = false;
        while self.outcome.is_none() && self.ends.iter().all(|end| end.bytes < PIPE_BYTES_MAX) {
            let Poll::Ready(said) = self.command.poll_next_unpin(&mut context) else { break };
            came = true;
            let (which, bytes) = match said {
                Some(Said::Stdout(bytes)) => (0, bytes),
                Some(Said::Stderr(bytes)) => (1, bytes),
                Some(Said::Ended(outcome)) => {
                    self.outcome = Some(outcome);
                    break;
                }
                None => {
                    self.outcome = Some(Err(Error::Unconfirmed));
                    break;
                }
            };
            let end = &mut self.ends[which];
            if end.is_read {
                end.bytes += bytes.len();
                end.pieces.push_back(bytes);
            }
        }
        if came {
            waker.wake();
        }
    }

    fn poll_read(&mut self, which: usize, context: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        self.all.0[which].register(context.waker());
        self.pull();
        let end = &mut self.ends[which];
        match end.pieces.pop_front() {
            Some(piece) => {
                let was_full = end.bytes >= PIPE_BYTES_MAX;
                end.bytes -= piece.len();
                if was_full {
                    self.all.clone().wake();
                }
                Poll::Ready(Some(piece))
            }
            None if self.outcome.is_some() => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    fn poll_outcome(&mut self, context: &mut Context<'_>) -> Poll<Outcome> {
        self.all.0[2].register(context.waker());
        self.pull();
        self.outcome.clone().map_or(Poll::Pending, Poll::Ready)
    }
}

impl Stream for Pipe {
    type Item = Vec<u8>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        self.shared.lock().poll_read(self.which, context)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let mut shared = self.shared.lock();
        let end = &mut shared.ends[self.which];
        (end.pieces, end.bytes, end.is_read) = (VecDeque::new(), 0, false);
        shared.all.clone().wake();
    }
}
