//! Somebody who watches a session through the hub.

use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{self, Message, client::IntoClientRequest, protocol::CloseFrame},
};

use super::*;

/// Somebody who watches, and everything that they were sent.
pub(super) struct Viewer {
    socket: WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>,
    pub(super) received: String,
}

/// How a stream ended: with a close frame, or without.
pub(super) type Ended = Option<CloseFrame>;

impl Viewer {
    pub(super) async fn new(hub: &Hub, worker: &str, cursor: Option<&str>) -> Self {
        Self::try_new(hub, worker, cursor).await.unwrap()
    }

    pub(super) async fn try_new(
        hub: &Hub,
        worker: &str,
        cursor: Option<&str>,
    ) -> Result<Self, tungstenite::Error> {
        let query = cursor.map(|cursor| format!("?cursor={cursor}")).unwrap_or_default();
        let path = format!("/api/runtimes/box/workers/{worker}/events/ws{query}");
        Self::at(&format!("{}{path}", hub.base()), hub.token()).await
    }

    /// Whoever watches at an address.
    pub(super) async fn at(address: &str, token: &str) -> Result<Self, tungstenite::Error> {
        let mut request = address.replacen("http", "ws", 1).into_client_request()?;
        let token = format!("Bearer {token}").parse().unwrap();
        request.headers_mut().insert("authorization", token);
        let (socket, response) = connect_async(request).await?;
        Ok(Self { socket, received: format!("{response:?}\n") })
    }

    /// The next frame, or how it ended.
    pub(super) async fn next(&mut self) -> Result<Value, Ended> {
        within(secs(30), async {
            loop {
                match self.socket.next().await {
                    Some(Ok(Message::Text(text))) => {
                        self.received += &format!("{text}\n");
                        return Ok(serde_json::from_str(&text).unwrap());
                    }
                    Some(Ok(Message::Close(close))) => {
                        self.received += &format!("{close:?}\n");
                        return Err(close);
                    }
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return Err(None),
                }
            }
        })
        .await
    }

    /// The next frame of a kind; all others are passed over.
    pub(super) async fn until(&mut self, kind: &str) -> Value {
        loop {
            let frame = self.next().await.unwrap();
            if frame["kind"] == kind {
                return frame[if kind == "event" { "envelope" } else { kind }].clone();
            }
        }
    }

    /// The envelopes up to an event of this kind.
    pub(super) async fn until_event(&mut self, kind: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let envelope = self.until("event").await;
            let over = envelope["payload"].get(kind).is_some();
            seen.push(envelope);
            if over {
                return seen;
            }
        }
    }

    pub(super) async fn say(&mut self, message: Message) {
        self.socket.send(message).await.unwrap();
    }

    /// How it ends, and what was told before.
    pub(super) async fn end(&mut self) -> (Value, Ended) {
        let mut last = Value::Null;
        loop {
            match self.next().await {
                Ok(frame) => last = frame,
                Err(ended) => return (last, ended),
            }
        }
    }
}
