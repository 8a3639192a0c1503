//! Somebody who watches a session through the hub.

use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{self, Message, client::IntoClientRequest, protocol::CloseFrame},
};

use super::*;

/// Somebody who watches, and everything that they were sent.
pub(crate) struct Viewer {
    socket: WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>,
    pub(crate) received: String,
}

/// How a stream ended: with a close frame, or without.
pub(crate) type Ended = Option<CloseFrame>;

impl Viewer {
    pub(crate) async fn new(hub: &Hub, worker: &str, cursor: Option<&str>) -> Self {
        Self::try_new(hub, worker, cursor).await.unwrap()
    }

    pub(crate) async fn try_new(
        hub: &Hub,
        worker: &str,
        cursor: Option<&str>,
    ) -> Result<Self, tungstenite::Error> {
        let query = cursor.map(|cursor| format!("?cursor={cursor}")).unwrap_or_default();
        let base = hub.base().replace("http", "ws");
        let mut request =
            format!("{base}/api/runtimes/box/workers/{worker}/events/ws{query}").into_client_request()?;
        let token = format!("Bearer {}", hub.token()).parse().unwrap();
        request.headers_mut().insert("authorization", token);
        let (socket, response) = connect_async(request).await?;
        Ok(Self { socket, received: format!("{response:?}\n") })
    }

    /// The next frame, or how it ended.
    pub(crate) async fn next(&mut self) -> Result<Value, Ended> {
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
    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        loop {
            let frame = self.next().await.unwrap();
            if frame["kind"] == kind {
                return frame[if kind == "event" { "envelope" } else { kind }].clone();
            }
        }
    }

    /// The envelopes up to an event of this kind.
    pub(crate) async fn until_event(&mut self, kind: &str) -> Vec<Value> {
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

    pub(crate) async fn say(&mut self, message: Message) {
        self.socket.send(message).await.unwrap();
    }

    /// How it ends, and what was told before.
    pub(crate) async fn end(&mut self) -> (Value, Ended) {
        let mut last = Value::Null;
        loop {
            match self.next().await {
                Ok(frame) => last = frame,
                Err(ended) => return (last, ended),
            }
        }
    }
}
