//! A peer that says whatever a test wants.

#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without `&`")]

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{self, Message, client::IntoClientRequest},
};

use super::world::{Environment, World, soon};

/// Where devices come in.
pub(super) const CONNECT: &str = "/api/v1/relay/connect";

/// Where those come in who use an environment.
pub(super) fn door(environment: &Environment) -> String {
    format!("/api/v1/relay/environments/{}/connect", environment.id)
}

/// A WebSocket of the hub.
pub(super) struct Raw(WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>);

impl Raw {
    /// Opens it with these headers; what it is answered with if it is not opened.
    pub(super) async fn open(
        world: &World,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, (u16, Value)> {
        let address = format!("{}{path}", world.base.replace("http", "ws"));
        let mut request = address.into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match connect_async(request).await {
            Ok((socket, _)) => Ok(Self(socket)),
            Err(tungstenite::Error::Http(response)) => {
                let body = response.body().as_deref().unwrap_or_default();
                Err((response.status().as_u16(), serde_json::from_slice(body).unwrap_or_default()))
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// Opens it with a token, and says hello; what it is accepted for.
    pub(super) async fn accepted(world: &World, path: &str, token: &str, hello: Value) -> (Self, Value) {
        let mut raw =
            Self::open(world, path, &[("authorization", &format!("Bearer {token}"))]).await.unwrap();
        raw.say(hello).await;
        let mut accepted = raw.hears().await;
        assert_eq!(accepted["event"], "relay.accepted");
        (raw, accepted["payload"].take())
    }

    pub(super) async fn say(&mut self, frame: Value) {
        self.send(Message::text(frame.to_string())).await;
    }

    pub(super) async fn send(&mut self, message: Message) {
        // It may be closed already.
        let _ = soon(self.0.send(message)).await;
    }

    /// What the hub says next, heartbeats left out.
    pub(super) async fn hears(&mut self) -> Value {
        loop {
            let message = soon(self.0.next()).await.unwrap().unwrap();
            let frame: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
            if frame["type"] != "ping" {
                return frame;
            }
        }
    }

    /// What the hub closes it with.
    pub(super) async fn closed(&mut self) -> Option<u16> {
        soon(async {
            loop {
                match self.0.next().await {
                    Some(Ok(Message::Close(frame))) => return frame.map(|frame| u16::from(frame.code)),
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return None,
                }
            }
        })
        .await
    }
}

/// A hello of this device.
pub(super) fn hello(client_id: &str, capabilities: Value) -> Value {
    json!({
        "type": "hello", "protocol": "ya-environment-relay.v1", "client_id": client_id, "client_kind": "headless",
        "client_version": "1", "capabilities": capabilities,
    })
}

pub(super) fn request(id: &str, method: &str, params: Value) -> Value {
    json!({ "type": "request", "id": id, "method": method, "params": params })
}
