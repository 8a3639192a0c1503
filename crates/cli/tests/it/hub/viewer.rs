//! Somebody who watches a session through the hub.

use std::collections::VecDeque;

use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::{
    connect_async,
    tungstenite::{self, Message, client::IntoClientRequest, protocol::CloseFrame},
};

use super::{person::Socket, *};

/// Somebody who watches, and everything that they were sent.
pub(crate) struct Viewer {
    socket: Socket,
    pub(crate) received: String,
    /// What came while something else was waited for.
    kept: VecDeque<Value>,
}

/// How a stream ended: with a close frame, or without.
pub(crate) type Ended = Option<CloseFrame>;

impl Viewer {
    pub(crate) async fn new(hub: &TestHub, worker: &str, cursor: Option<&str>) -> Self {
        Self::try_new(hub, worker, cursor).await.unwrap()
    }

    pub(crate) async fn try_new(
        hub: &TestHub,
        worker: &str,
        cursor: Option<&str>,
    ) -> Result<Self, tungstenite::Error> {
        let query = cursor.map(|cursor| format!("?cursor={cursor}")).unwrap_or_default();
        let token = format!("Bearer {}", hub.token());
        Self::try_with(hub, &format!("{worker}/events/ws{query}"), &[("authorization", &token)]).await
    }

    /// With a token of somebody else.
    pub(crate) async fn try_as(hub: &TestHub, token: &str, worker: &str) -> Result<Self, tungstenite::Error> {
        let token = format!("Bearer {token}");
        Self::try_with(hub, &format!("{worker}/events/ws"), &[("authorization", &token)]).await
    }

    /// With these headers and no others.
    pub(crate) async fn try_with(
        hub: &TestHub,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, tungstenite::Error> {
        Self::open(&format!("{}/api/runtimes/box/workers/{path}", hub.base()), headers).await
    }

    /// Whoever watches at an address.
    pub(crate) async fn at(address: &str, token: &str) -> Result<Self, tungstenite::Error> {
        Self::open(address, &[("authorization", &format!("Bearer {token}"))]).await
    }

    async fn open(address: &str, headers: &[(&'static str, &str)]) -> Result<Self, tungstenite::Error> {
        let mut request = address.replacen("http", "ws", 1).into_client_request()?;
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let (socket, response) = connect_async(request).await?;
        Ok(Self { socket, received: format!("{response:?}\n"), kept: VecDeque::new() })
    }

    /// The next frame, or how it ended.
    pub(crate) async fn next(&mut self) -> Result<Value, Ended> {
        match self.kept.pop_front() {
            Some(frame) => Ok(frame),
            None => self.receive().await,
        }
    }

    async fn receive(&mut self) -> Result<Value, Ended> {
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

    /// The next frame of a kind; all others are passed over, and so is who is there.
    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        loop {
            let frame = self.next().await.unwrap();
            if frame["kind"] == kind && frame["control"]["type"] != "presence" {
                return frame[if kind == "event" { "envelope" } else { kind }].clone();
            }
        }
    }

    /// Who is there, when that is told next. What happens meanwhile is kept for who asks for it.
    pub(crate) async fn presence(&mut self) -> Value {
        loop {
            let frame = self.receive().await.unwrap();
            match frame["control"]["type"] == "presence" {
                true => return frame["control"].clone(),
                false => self.kept.push_back(frame),
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
