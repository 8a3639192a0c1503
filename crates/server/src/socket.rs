//! A client's socket: cut when its peer stops reading, and closed so that the last answer arrives.

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

/// How long a peer that is still sending may take to notice that it was answered.
const LINGER: Duration = Duration::from_secs(1);

/// How much is read at a time of what nobody wants.
const DISCARDED_BYTES: usize = 16 << 10;

/// How much may wait in the system to be sent. Left alone it is megabytes, and a reader that reads steadily but slowly
/// makes room only once in a while: it would look stalled, and be left behind.
const UNSENT_BYTES_MAX: u32 = 128 << 10;

/// Makes a socket prompt, in both directions. One that cannot be tuned still works.
pub(crate) fn tune(socket: &TcpStream) {
    // A small answer shall not wait for the acknowledgement of the one before it.
    let _ = socket.set_nodelay(true);
    let _ = SockRef::from(socket).set_tcp_notsent_lowat(UNSENT_BYTES_MAX);
}

/// A socket that fails a write which made no progress for a while.
///
/// Closed while its peer is sending, a socket is reset, and the peer loses the answer that it has not read yet: a
/// refusal of a large upload would never be seen. So what still comes is read for a moment, and thrown away.
pub(crate) struct Socket {
    socket: TcpStream,
    patience: Duration,
    /// Runs while a write waits; there is none on a connection that flows.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Runs while we wait for a peer that is still sending.
    lingering: Option<Pin<Box<Sleep>>>,
}

impl Socket {
    pub(crate) fn new(socket: TcpStream, patience: Duration) -> Self {
        Self { socket, patience, waiting: None, lingering: None }
    }

    fn watch<T>(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.waiting = None;
            return poll;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        match waiting.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                let message = format!("the peer read nothing for {} s", patience.as_secs());
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, message)))
            }
        }
    }

    /// Throws away what still comes. Ready at once if nothing does, else at the end of it or of our patience.
    fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut bytes = [0; DISCARDED_BYTES];
        loop {
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.socket).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if buffer.filled().is_empty() => return Poll::Ready(Ok(())),
                Poll::Ready(Err(_)) => return Poll::Ready(Ok(())),
                Poll::Pending if self.lingering.is_none() => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(())) | Poll::Pending => {}
            }
            let lingering = self.lingering.get_or_insert_with(|| Box::pin(tokio::time::sleep(LINGER)));
            if lingering.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            if buffer.filled().is_empty() {
                return Poll::Pending;
            }
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.socket).poll_write(cx, buf);
        self.watch(cx, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.socket).poll_write_vectored(cx, bufs);
        self.watch(cx, poll)
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
