use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Message, protocol::CloseFrame},
};

use crate::{IncomingMessage, KeepAlive, SplitReceiver, WebSocketSender, close, split};

/// Why a proxied connection ends.
enum ProxyEnd {
    /// The client closed it, or was lost.
    Client(Option<CloseFrame>),
    /// The upstream closed it.
    Upstream(Option<CloseFrame>),
    /// The upstream was lost.
    UpstreamLost,
    /// The caller ends it.
    Cancelled(CloseFrame),
}

/// Forwards messages between a client and an upstream server until one of them closes or is lost, or `cancelled` resolves.
///
/// The close frame of one side is forwarded to the other. `upstream_lost` is what the client gets if there is none, and
/// the result of `cancelled` is what it gets then. Only the client is pinged; the upstream is expected to ping us. One
/// message is held in each direction, so a side that does not read slows down its counterpart and nothing else.
pub async fn proxy<C, U>(
    client: WebSocketStream<C>,
    upstream: WebSocketStream<U>,
    keep_alive: KeepAlive,
    upstream_lost: CloseFrame,
    cancelled: impl Future<Output = CloseFrame>,
) where
    C: AsyncRead + AsyncWrite + Unpin,
    U: AsyncRead + AsyncWrite + Unpin,
{
    let (mut to_client, mut from_client) = split(client, keep_alive);
    let (mut to_upstream, mut from_upstream) = split(upstream, keep_alive);
    let end = tokio::select! {
        biased;
        frame = cancelled => ProxyEnd::Cancelled(frame),
        end = forward_to_client(&mut from_upstream, &mut to_client) => end,
        end = forward_to_upstream(&mut from_client, &mut to_upstream) => end,
    };
    let (client_close, upstream_close) = match end {
        ProxyEnd::Client(frame) => (None, Some(frame)),
        ProxyEnd::Upstream(frame) => (Some(frame), None),
        ProxyEnd::UpstreamLost => close_both(upstream_lost),
        ProxyEnd::Cancelled(frame) => close_both(frame),
    };
    tokio::join!(
        close(to_client, from_client, client_close.map(Message::Close)),
        close(to_upstream, from_upstream, upstream_close.map(Message::Close)),
    );
}

/// Close frames for the client and the upstream. The reason concerns the client only.
fn close_both(frame: CloseFrame) -> (Option<Option<CloseFrame>>, Option<Option<CloseFrame>>) {
    let without_reason = CloseFrame { code: frame.code, reason: Default::default() };
    (Some(Some(frame)), Some(Some(without_reason)))
}

async fn forward_to_client<C, U>(from: &mut SplitReceiver<U>, to: &mut WebSocketSender<C>) -> ProxyEnd
where
    C: AsyncRead + AsyncWrite + Unpin,
    U: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        let Ok(received) = to.ping_until(from.next()).await else { return ProxyEnd::Client(None) };
        let message = match received {
            Ok(IncomingMessage::Text(text)) => Message::Text(text),
            Ok(IncomingMessage::Binary(bytes)) => Message::Binary(bytes),
            Ok(IncomingMessage::Close(frame)) => return ProxyEnd::Upstream(frame),
            Err(_) => return ProxyEnd::UpstreamLost,
        };
        if to.send(message).await.is_err() {
            return ProxyEnd::Client(None);
        }
    }
}

async fn forward_to_upstream<C, U>(from: &mut SplitReceiver<C>, to: &mut WebSocketSender<U>) -> ProxyEnd
where
    C: AsyncRead + AsyncWrite + Unpin,
    U: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        let message = match from.next().await {
            Ok(IncomingMessage::Text(text)) => Message::Text(text),
            Ok(IncomingMessage::Binary(bytes)) => Message::Binary(bytes),
            Ok(IncomingMessage::Close(frame)) => return ProxyEnd::Client(frame),
            Err(_) => return ProxyEnd::Client(None),
        };
        // A daemon stops reading a terminal's input while its process does not, and that may last. A daemon that is lost is
        // noticed by the other direction, because it no longer pings.
        if to.send_without_timeout(message).await.is_err() {
            return ProxyEnd::UpstreamLost;
        }
    }
}
