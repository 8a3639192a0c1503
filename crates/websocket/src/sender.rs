use std::{pin::pin, time::Duration};

use bytes::Bytes;
use futures_util::{SinkExt, stream::SplitSink};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, Interval, MissedTickBehavior, interval_at, timeout},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{self, Message},
};

use crate::{CLOSE_WAIT_MAX, Disconnected, KeepAlive, fragments};

/// The sending half of a connection. It pings the peer, and gives up on one that does not accept what is sent.
#[derive(Debug)]
pub struct WebSocketSender<S> {
    sink: SplitSink<WebSocketStream<S>, Message>,
    pings: Interval,
    send_timeout: Duration,
}

impl<S: AsyncRead + AsyncWrite + Unpin> WebSocketSender<S> {
    pub(crate) fn new(sink: SplitSink<WebSocketStream<S>, Message>, keep_alive: KeepAlive) -> Self {
        let KeepAlive { ping_interval, idle_timeout } = keep_alive;
        let mut pings = interval_at(Instant::now() + ping_interval, ping_interval);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { sink, pings, send_timeout: idle_timeout }
    }

    /// Waits for `next`, and pings the peer meanwhile.
    ///
    /// # Errors
    /// If the peer does not accept a ping.
    pub async fn ping_until<T>(&mut self, next: impl Future<Output = T>) -> Result<T, Disconnected> {
        let mut next = pin!(next);
        loop {
            tokio::select! {
                // Pings come first: a source that always has something to send would otherwise suppress them, and a peer
                // that only listens shows that it is alive by its pongs alone.
                biased;
                _ = self.pings.tick() => self.send_whole(Message::Ping(Bytes::new())).await?,
                value = &mut next => return Ok(value),
            }
        }
    }

    /// Sends a message, in several frames if it is large.
    ///
    /// # Errors
    /// If the connection is lost, or the peer does not accept the message in time.
    pub async fn send(&mut self, message: Message) -> Result<(), Disconnected> {
        self.send_all([message]).await
    }

    /// Sends messages with as few system calls as possible.
    ///
    /// # Errors
    /// If the connection is lost, or the peer does not accept them in time.
    pub async fn send_all(
        &mut self,
        messages: impl IntoIterator<Item = Message>,
    ) -> Result<(), Disconnected> {
        within(self.send_timeout, feed_all(&mut self.sink, messages)).await
    }

    /// Sends a message in one frame, however large it is.
    ///
    /// # Errors
    /// If the connection is lost, or the peer does not accept the message in time.
    pub async fn send_whole(&mut self, message: Message) -> Result<(), Disconnected> {
        within(self.send_timeout, self.sink.send(message)).await
    }

    /// Sends a message to a peer that may legitimately stop reading for any length of time.
    ///
    /// # Errors
    /// If the connection is lost.
    pub async fn send_without_timeout(&mut self, message: Message) -> Result<(), Disconnected> {
        Ok(feed_all(&mut self.sink, [message]).await?)
    }

    /// Sends a close frame and does not wait for the peer's.
    pub async fn close(mut self) {
        let _ = timeout(CLOSE_WAIT_MAX, self.sink.close()).await;
    }
}

async fn feed_all<S: AsyncRead + AsyncWrite + Unpin>(
    sink: &mut SplitSink<WebSocketStream<S>, Message>,
    messages: impl IntoIterator<Item = Message>,
) -> Result<(), tungstenite::Error> {
    for frame in messages.into_iter().flat_map(fragments) {
        sink.feed(frame).await?;
    }
    sink.flush().await
}

async fn within(
    limit: Duration,
    sending: impl Future<Output = Result<(), tungstenite::Error>>,
) -> Result<(), Disconnected> {
    Ok(timeout(limit, sending).await.map_err(|_| Disconnected::Idle)??)
}
