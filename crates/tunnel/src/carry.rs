//! A WebSocket as a pipe of bytes.

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};
use websocket::{IncomingMessage, KeepAlive, SplitReceiver, WebSocketSender};

use crate::limits::PIPE_BYTES_MAX;

/// The largest message: all that is in the pipe.
pub const MESSAGE_BYTES_MAX: usize = PIPE_BYTES_MAX;

/// Carries bytes from the pipe to the peer of the WebSocket and back, until one of them ends or the peer is lost.
pub async fn carry<S: AsyncRead + AsyncWrite + Unpin>(
    socket: WebSocketStream<S>,
    pipe: DuplexStream,
    keep_alive: KeepAlive,
) {
    let (mut sender, mut receiver) = websocket::split(socket, keep_alive);
    let (mut from, mut to) = tokio::io::split(pipe);
    tokio::select! {
        () = send(&mut from, &mut sender) => {}
        () = receive(&mut receiver, &mut to) => {}
    }
    sender.close().await;
}

async fn send<S: AsyncRead + AsyncWrite + Unpin>(
    from: &mut ReadHalf<DuplexStream>,
    sender: &mut WebSocketSender<S>,
) {
    let mut bytes = BytesMut::new();
    loop {
        bytes.reserve(MESSAGE_BYTES_MAX);
        match sender.ping_until(from.read_buf(&mut bytes)).await {
            Ok(Ok(1..)) => {}
            Ok(Ok(0) | Err(_)) | Err(_) => return,
        }
        // One frame: whatever was read at once is at most one message large.
        if sender.send_whole(Message::Binary(bytes.split().freeze())).await.is_err() {
            return;
        }
    }
}

async fn receive<S: AsyncRead + AsyncWrite + Unpin>(
    receiver: &mut SplitReceiver<S>,
    to: &mut WriteHalf<DuplexStream>,
) {
    loop {
        match receiver.next().await {
            Ok(IncomingMessage::Binary(bytes)) => {
                if to.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            // Nothing but bytes is expected. After a close frame the next call returns an error.
            Ok(IncomingMessage::Text(_) | IncomingMessage::Close(_)) => {}
            Err(_) => return,
        }
    }
}
