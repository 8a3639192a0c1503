//! What both ends agree on.

use hyper::rt::Executor;
use tokio::io::DuplexStream;
use tokio_util::task::TaskTracker;

/// What requests through a tunnel give as their `Host`: whoever answers has no address here.
pub const HOST: &str = "localhost";

/// How many requests are answered at a time, …
pub(crate) const REQUESTS_MAX: usize = 1024;

/// … and how many more streams there may be: WebSockets, which a daemon has as many of.
pub(crate) const STREAMS_MAX: u32 = 2 * REQUESTS_MAX as u32;

/// How much of one stream may be on its way that nobody has read yet.
pub(crate) const STREAM_BYTES_MAX: u32 = 128 << 10;

/// The same for all of them: were it less, streams that nobody reads could stop those that somebody does.
pub(crate) const CONNECTION_BYTES_MAX: u32 = STREAMS_MAX * STREAM_BYTES_MAX;

/// How much of one stream waits to be sent.
pub(crate) const UNSENT_BYTES_MAX: usize = 64 << 10;

/// Bounds the head of a request or an answer.
pub(crate) const HEAD_BYTES_MAX: u32 = 64 << 10;

/// How much is between the WebSocket and what is said over it, in each direction.
pub(crate) const PIPE_BYTES_MAX: usize = 64 << 10;

/// Two ends, in memory: what goes in at one comes out at the other.
pub fn pipe() -> (DuplexStream, DuplexStream) {
    tokio::io::duplex(PIPE_BYTES_MAX)
}

/// Runs what a connection needs to have run.
#[derive(Clone)]
pub(crate) struct Tasks(pub(crate) TaskTracker);

impl<F> Executor<F> for Tasks
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, task: F) {
        self.0.spawn(task);
    }
}
