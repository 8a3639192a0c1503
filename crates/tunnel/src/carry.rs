//! A WebSocket as a pipe of bytes.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf},
    time::{Instant, MissedTickBehavior, timeout},
};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

use crate::limits::PIPE_BYTES_MAX;

/// The largest message: all that is in the pipe.
pub const MESSAGE_BYTES_MAX: usize = PIPE_BYTES_MAX;

/// How long the other end may take to close its side.
const CLOSE_WAIT_MAX: Duration = Duration::from_secs(1);

/// How long the other end is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// How often it is asked whether it is there.
    pub heartbeat: Duration,
    /// After how long without a sign of life, or without taking what is sent, it is taken for lost.
    pub silence_max: Duration,
}

impl Default for Patience {
    /// Three signs of life may be missed.
    fn default() -> Self {
        Self { heartbeat: Duration::from_secs(15), silence_max: Duration::from_secs(45) }
    }
}

/// Carries what goes into the pipe to the other end of the WebSocket and back, until one of them ends or falls silent.
pub async fn carry<S: AsyncRead + AsyncWrite + Unpin>(
    socket: WebSocketStream<S>,
    pipe: DuplexStream,
    patience: Patience,
) {
    let (mut sender, mut receiver) = socket.split();
    let (mut from, mut to) = tokio::io::split(pipe);
    tokio::select! {
        () = send(&mut from, &mut sender, patience) => {}
        () = receive(&mut receiver, &mut to, patience) => {}
    }
    let _ = timeout(CLOSE_WAIT_MAX, sender.close()).await;
}

async fn send<S: AsyncRead + AsyncWrite + Unpin>(
    from: &mut ReadHalf<DuplexStream>,
    sender: &mut SplitSink<WebSocketStream<S>, Message>,
    patience: Patience,
) {
    let mut heartbeat = tokio::time::interval_at(Instant::now() + patience.heartbeat, patience.heartbeat);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut bytes = BytesMut::new();
    loop {
        bytes.reserve(MESSAGE_BYTES_MAX);
        let message = tokio::select! {
            read = from.read_buf(&mut bytes) => match read {
                Ok(0) | Err(_) => return,
                Ok(_) => Message::Binary(bytes.split().freeze()),
            },
            _ = heartbeat.tick() => Message::Ping(Bytes::new()),
        };
        match timeout(patience.silence_max, sender.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return,
        }
    }
}

async fn receive<S: AsyncRead + AsyncWrite + Unpin>(
    receiver: &mut SplitStream<WebSocketStream<S>>,
    to: &mut WriteHalf<DuplexStream>,
    patience: Patience,
) {
    // Whatever comes is a sign of life.
    while let Ok(Some(Ok(message))) = timeout(patience.silence_max, receiver.next()).await {
        if let Message::Binary(bytes) = message
            && to.write_all(&bytes).await.is_err()
        {
            return;
        }
    }
}
