//! In place of a hub: the other end of the connections of a device.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt;
use protocol::relay::{EventFrame, Family, Hello, RawJson, RelayError, Request};
use relay::{Ask, Handler, Limits, Lost, Peer, Refused, Reply, Side, Socket};
use serde_json::{Map, Value, json};
use testkit::within;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinSet,
};
use tokio_tungstenite::tungstenite::{
    handshake::server::{ErrorResponse, Request as WebSocketUpgrade, Response},
    http,
};

use super::TOKEN;
use crate::secs;

/// How many things may wait to be looked at by a test.
const SEEN_MAX: usize = 64;

/// Accepts whatever a device offers.
pub(super) struct StandIn {
    base: String,
    connections: mpsc::Receiver<Connected>,
    _serving: JoinSet<()>,
}

/// A device that is connected.
pub(super) struct Connected {
    pub(super) hello: Hello,
    pub(super) peer: Peer,
    events: mpsc::Receiver<EventFrame>,
    lost: mpsc::Receiver<Lost>,
}

/// What the device said.
struct Seen {
    hello: mpsc::Sender<Hello>,
    events: mpsc::Sender<EventFrame>,
    number: usize,
    /// Why no device is accepted.
    refuses: Option<&'static str>,
}

impl StandIn {
    pub(super) async fn start() -> Self {
        Self::start_as(None).await
    }

    /// Accepts no device, for this reason.
    pub(super) async fn refusing(reason: &'static str) -> Self {
        Self::start_as(Some(reason)).await
    }

    async fn start_as(refuses: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (sender, connections) = mpsc::channel(SEEN_MAX);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut open = JoinSet::new();
            for number in 1.. {
                let (stream, _) = listener.accept().await.unwrap();
                open.spawn(serve(stream, sender.clone(), number, refuses));
            }
        });
        Self { base, connections, _serving: serving }
    }

    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// The next device that connects.
    pub(super) async fn next(&mut self) -> Connected {
        within(secs(15), self.connections.recv()).await.unwrap()
    }
}

impl Connected {
    /// What the device answers.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Result<Value, RelayError> {
        self.ask_as("s-1", method, params).await
    }

    /// What the device answers to a session.
    pub(super) async fn ask_as(
        &self,
        session: &str,
        method: &str,
        params: Value,
    ) -> Result<Value, RelayError> {
        let context = serde_json::from_value(json!({ "session_id": session, "run_id": "r-1" })).unwrap();
        let call = self.peer.request(Ask::new(method, RawJson::from_value(&params)).context(context)).await;
        within(secs(20), call.outcome()).await.map(|result| result.read().unwrap())
    }

    /// The next event of this name.
    pub(super) async fn event(&mut self, name: &str) -> Value {
        loop {
            let event = within(secs(10), self.events.recv()).await.unwrap();
            if event.event == name {
                return event.payload.read().unwrap();
            }
        }
    }

    /// Why the connection ended.
    pub(super) async fn lost(&mut self) -> Lost {
        within(secs(10), self.lost.recv()).await.unwrap()
    }
}

async fn serve(
    stream: TcpStream,
    sender: mpsc::Sender<Connected>,
    number: usize,
    refuses: Option<&'static str>,
) {
    #[expect(clippy::result_large_err, reason = "the library wants it so")]
    let check = |request: &WebSocketUpgrade, response: Response| {
        let bearer = request.headers().get("authorization").and_then(|value| value.to_str().ok());
        let is_ours =
            request.uri().path() == "/api/v1/relay/connect" && bearer == Some(&format!("Bearer {TOKEN}"));
        if is_ours { Ok(response) } else { Err(refusal()) }
    };
    let limits = Limits::default();
    let accepting =
        tokio_tungstenite::accept_hdr_async_with_config(stream, check, Some(relay::config(&limits)));
    let Ok(socket) = accepting.await else { return };
    let (hello, mut hellos) = mpsc::channel(1);
    let (events, heard) = mpsc::channel(SEEN_MAX);
    let (end, lost) = mpsc::channel(1);
    let seen = Arc::new(Seen { hello, events, number, refuses });
    let (peer, driver) = Peer::start(Socket::new(socket), Shared(seen), Side::Server, limits);
    let mut driver = Box::pin(driver.shared());
    tokio::select! {
        _ = driver.clone() => return,
        Some(hello) = hellos.recv() => {
            let connected = Connected { hello, peer: peer.clone(), events: heard, lost };
            sender.send(connected).await.ok();
        }
    }
    let _ = end.send((&mut driver).await).await;
}

fn refusal() -> ErrorResponse {
    let body = json!({ "type": "urn:problem:unauthorized", "title": "A valid bearer token is needed", "status": 401, "detail": "" });
    let response = http::Response::builder().status(401).header("content-type", "application/problem+json");
    response.body(Some(body.to_string())).unwrap()
}

struct Shared(Arc<Seen>);

#[async_trait]
impl Handler for Shared {
    async fn hello(&self, hello: Hello) -> Result<Map<String, Value>, Refused> {
        if let Some(reason) = self.0.refuses {
            return Err(Refused(reason.into()));
        }
        let offer = hello.check().map_err(|error| Refused(error.to_string()))?;
        self.0.hello.send(hello).await.unwrap();
        let families: Vec<Family> = offer.families.into_iter().collect();
        let accepted = json!({
            "connection_id": format!("relay_conn_{}", self.0.number),
            "accepted_capabilities": families,
            "accepted_roots": offer.roots,
            "server_time": "2026-01-01T00:00:00Z",
        });
        Ok(accepted.as_object().unwrap().clone())
    }

    async fn request(&self, _: Request, _: &mut Reply) -> Result<RawJson, RelayError> {
        Ok(RawJson::empty())
    }

    fn event(&self, event: EventFrame) {
        self.0.events.try_send(event).ok();
    }
}
