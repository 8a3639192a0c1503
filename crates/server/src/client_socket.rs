//! A client's TCP connection: fails when the client stops reading, and closes so that the last response arrives.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::Sleep,
};

/// How long to keep reading from a client that still sends after its response was written.
const DISCARD_TIME: Duration = Duration::from_secs(1);

/// The buffer for data that is read and discarded.
const DISCARD_BUFFER_BYTES: usize = 16 << 10;

/// How much unsent data the kernel may buffer. Its default is megabytes. A client that reads slowly but steadily would
/// then free space so rarely that it looks stalled, and would be disconnected.
const UNSENT_BYTES_MAX: u32 = 128 << 10;

/// Sets socket options for low latency. Errors are ignored, because a socket also works without them.
pub(crate) fn set_low_latency(socket: &TcpStream) {
    // A small response should not wait for the acknowledgement of the previous one.
    let _ = socket.set_nodelay(true);
    let _ = SockRef::from(socket).set_tcp_notsent_lowat(UNSENT_BYTES_MAX);
}

/// A socket whose writes fail after they made no progress for the stall timeout.
///
/// If a socket is closed while the client still sends, the kernel resets the connection, and the client loses the response
/// that it has not read yet: the rejection of a large upload would never be seen. So shutdown reads and discards incoming
/// data for a moment.
pub(crate) struct ClientSocket {
    socket: TcpStream,
    stall_timeout: Duration,
    /// Runs while a write is blocked.
    write_deadline: Option<Pin<Box<Sleep>>>,
    /// Runs while incoming data is discarded.
    discard_deadline: Option<Pin<Box<Sleep>>>,
}

impl ClientSocket {
    pub(crate) fn new(socket: TcpStream, stall_timeout: Duration) -> Self {
        Self { socket, stall_timeout, write_deadline: None, discard_deadline: None }
    }

    /// Turns a write that was pending for too long into an error.
    fn check_stall<T>(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.write_deadline = None;
            return poll;
        }
        let stall_timeout = self.stall_timeout;
        let deadline = self.write_deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(stall_timeout)));
        match deadline.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                let message = format!("the client read nothing for {} s", stall_timeout.as_secs());
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, message)))
            }
        }
    }

    /// Discards incoming data. Ready immediately if there is none, else at its end or after [`DISCARD_TIME`].
    fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut bytes = [0; DISCARD_BUFFER_BYTES];
        loop {
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.socket).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if buffer.filled().is_empty() => return Poll::Ready(Ok(())),
                Poll::Ready(Err(_)) => return Poll::Ready(Ok(())),
                Poll::Pending if self.discard_deadline.is_none() => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(())) | Poll::Pending => {}
            }
            let deadline =
                self.discard_deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(DISCARD_TIME)));
            if deadline.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            if buffer.filled().is_empty() {
                return Poll::Pending;
            }
        }
    }
}

impl AsyncRead for ClientSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buf)
    }
}

impl AsyncWrite for ClientSocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.socket).poll_write(cx, buf);
        self.check_stall(cx, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.socket).poll_write_vectored(cx, bufs);
        self.check_stall(cx, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.socket).poll_shutdown(cx))?;
        self.poll_discard(cx)
    }
}
