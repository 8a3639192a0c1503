//! The limits that both sides use.

use hyper::rt::Executor;
use tokio::io::DuplexStream;
use tokio_util::task::TaskTracker;

/// The `Host` of requests in a tunnel; the server has no address of its own there.
pub const HOST: &str = "localhost";

/// The maximum number of concurrent requests.
pub(crate) const REQUESTS_MAX: usize = 1024;

/// The maximum number of streams: requests, and as many WebSockets, which outlive their request.
pub(crate) const STREAMS_MAX: u32 = 2 * REQUESTS_MAX as u32;

/// The flow-control window of a stream: the bytes in transit that the receiver has not read.
pub(crate) const STREAM_BYTES_MAX: u32 = 128 << 10;

/// The flow-control window of the connection: the sum over all streams. If it were smaller, streams that are not read could use
/// it up and block the others.
pub(crate) const CONNECTION_BYTES_MAX: u32 = STREAMS_MAX * STREAM_BYTES_MAX;

/// The send buffer of a stream.
pub(crate) const UNSENT_BYTES_MAX: usize = 64 << 10;

/// The maximum size of the headers of a request or response.
pub(crate) const HEAD_BYTES_MAX: u32 = 64 << 10;

/// The capacity of the pipe between the WebSocket and HTTP/2, in each direction.
pub(crate) const PIPE_BYTES_MAX: usize = 64 << 10;

/// Creates an in-memory pipe: bytes that are written to one end are read from the other.
pub fn pipe() -> (DuplexStream, DuplexStream) {
    tokio::io::duplex(PIPE_BYTES_MAX)
}

/// Runs hyper's tasks for a connection on a task tracker.
#[derive(Clone)]
pub(crate) struct TunnelExecutor(pub(crate) TaskTracker);

impl<F> Executor<F> for TunnelExecutor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, task: F) {
        self.0.spawn(task);
    }
}
