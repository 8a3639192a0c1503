//! Somebody who uses the hub.

use reqwest::RequestBuilder;
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{self, client::IntoClientRequest, handshake::client::Response},
};

use super::*;

/// A WebSocket to the hub.
pub(super) type Socket = WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>;

/// Somebody who uses the hub.
pub(super) struct Person {
    pub(super) name: String,
    pub(super) token: String,
    base: String,
    http: reqwest::Client,
}

impl Person {
    /// The one whom the hub made a token for.
    pub(super) fn owner(hub: &TestHub) -> Self {
        Self::new(hub, "owner", hub.token())
    }

    /// Somebody else, who sends and answers in every workspace.
    pub(super) async fn somebody_else(hub: &TestHub, name: &str) -> Self {
        let token = somebody(hub, name, json!({ "everywhere": "controller" })).await;
        Self::new(hub, name, &token)
    }

    /// Whoever has this token.
    pub(super) fn new(hub: &TestHub, name: &str, token: &str) -> Self {
        Self::at(hub.base(), name, token)
    }

    /// Whoever has this token of the hub at `base`.
    pub(super) fn at(base: &str, name: &str, token: &str) -> Self {
        Self { name: name.into(), token: token.into(), base: base.into(), http: reqwest::Client::new() }
    }

    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    pub(super) async fn get(&self, path: &str) -> Value {
        let response = self.request(Method::GET, path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        response.json().await.unwrap()
    }

    /// Sends a body of JSON.
    pub(super) async fn post(&self, path: &str, body: &Value) -> reqwest::Response {
        self.request(Method::POST, path).json(body).send().await.unwrap()
    }

    /// Opens a WebSocket.
    pub(super) async fn open(&self, path: &str) -> Result<(Socket, Response), tungstenite::Error> {
        let mut request = format!("{}{path}", self.base.replace("http", "ws")).into_client_request()?;
        request.headers_mut().insert("authorization", format!("Bearer {}", self.token).parse().unwrap());
        connect_async(request).await
    }

    /// Listens to what waits in all runtimes.
    pub(super) async fn listen(&self) -> Listener {
        Listener(EventStream::new(self.request(Method::GET, "/api/waits/events").send().await.unwrap()))
    }
}

/// What is told of the waits of all runtimes.
pub(super) struct Listener(EventStream);

impl Listener {
    pub(super) async fn next(&mut self) -> Value {
        let event = within(secs(30), self.0.next()).await.unwrap();
        serde_json::from_str(&event.data).unwrap()
    }

    /// The next event of this type; all others are passed over.
    pub(super) async fn until(&mut self, kind: &str) -> Value {
        loop {
            let event = self.next().await;
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// It ends by itself.
    pub(super) async fn ends(&mut self) {
        within(secs(20), async { while self.0.next().await.is_some() {} }).await;
    }
}
