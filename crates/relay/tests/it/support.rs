//! A provider that does as it is told, connections to it, and a side that says whatever a test wants.

use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use async_trait::async_trait;
use protocol::relay::{
    DeviceCapabilities, EventFrame, Hello, PROTOCOL, Packet, RawJson, RelayError, RelayErrorCode, Request,
};
use relay::{
    Ask, Call, Handler, Limits, Lost, Peer, Pipe, Refused, Reply, Side, Socket, Transport, config, pair,
};
use serde_json::{Map, Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{mpsc, watch},
    task::JoinSet,
};
use tokio_tungstenite::{WebSocketStream, accept_async_with_config, client_async_with_config};

/// What carries the messages.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Via {
    Pair,
    Socket,
}

pub(crate) const BOTH: [Via; 2] = [Via::Pair, Via::Socket];

/// A provider that does as it is told, and counts what it works on.
#[derive(Clone)]
pub(crate) struct Provider {
    working: Arc<watch::Sender<usize>>,
    pub(crate) started: Arc<AtomicUsize>,
    events: mpsc::Sender<EventFrame>,
}

struct Working(Arc<watch::Sender<usize>>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.send_modify(|working| *working -= 1);
    }
}

impl Provider {
    pub(crate) fn new() -> (Self, mpsc::Receiver<EventFrame>) {
        let (events, heard) = mpsc::channel(64);
        (Self { working: Arc::new(watch::channel(0).0), started: Arc::default(), events }, heard)
    }

    /// Returns when it works on so many requests.
    pub(crate) async fn works_on(&self, count: usize) {
        self.working.subscribe().wait_for(|working| *working == count).await.unwrap();
    }
}

#[async_trait]
impl Handler for Provider {
    async fn hello(&self, hello: Hello) -> Result<Map<String, Value>, Refused> {
        match hello.client_id.as_str() {
            "stranger" => Err(Refused("nobody knows stranger".into())),
            "slow" => std::future::pending().await,
            _ => Ok(Map::from_iter([("connection_id".into(), json!("relay_conn_1"))])),
        }
    }

    async fn request(&self, request: Request, reply: &mut Reply) -> Result<RawJson, RelayError> {
        self.working.send_modify(|working| *working += 1);
        self.started.fetch_add(1, SeqCst);
        let _working = Working(self.working.clone());
        let number = || request.params.read::<usize>().unwrap_or_default();
        match request.method.as_str() {
            "echo" => Ok(request.params),
            "fail" => Err(RelayError::new(RelayErrorCode::NotFound, "there is no such thing")),
            "panic" => panic!("as it was told"),
            "large" => Ok(RawJson::from_value(&"x".repeat(number()))),
            "wait" => {
                reply.cancelled().await;
                Err(RelayError::new(RelayErrorCode::ProviderError, "whatever"))
            }
            "shell.start" => {
                reply.cancelled().await;
                Err(RelayError::new(RelayErrorCode::ProviderError, "whatever"))
            }
            "file.stat" | "shell.status" => Ok(request.params),
            "file.read" | "file.list" => Ok(RawJson::empty().with_bytes(vec![0xff; number()].into())),
            "ignore" => std::future::pending().await,
            "end" => {
                reply.cancelled().await;
                let error = |code| RelayError::new(code, "it ends");
                Err(match request.params.read::<String>().unwrap().as_str() {
                    "unsure" => error(RelayErrorCode::ProviderError).with("lost", true),
                    "unplugged" => error(RelayErrorCode::RelayDisconnected),
                    _ => error(RelayErrorCode::ProviderError),
                })
            }
            "count" => {
                for number in 0..number() {
                    let event = ["stdout", "stderr", "progress"][number % 3];
                    reply.stream(event, RawJson::from_value(&number)).await?;
                }
                Ok(RawJson::from_value(&"counted"))
            }
            "bytes" => {
                reply.bytes("stdout", "tomb".as_bytes()).await?;
                reply.bytes("stdout", &[0xc3]).await?;
                Ok(RawJson::empty())
            }
            "flood" => {
                let line = RawJson::from_value(&"x".repeat(4000));
                for _ in 0..number() / 4000 {
                    reply.stream("stdout", line.clone()).await?;
                }
                Ok(RawJson::empty())
            }
            "blocks" => {
                for size in request.params.read::<Vec<usize>>().unwrap() {
                    reply.stream("stdout", RawJson::from_value(&"x".repeat(size))).await?;
                }
                Ok(RawJson::empty())
            }
            _ => Err(RelayError::new(RelayErrorCode::UnknownMethod, "unknown method")),
        }
    }

    fn event(&self, event: EventFrame) {
        let _ = self.events.try_send(event);
    }
}

/// Both sides of a connection on which the device is accepted.
pub(crate) struct Connection {
    pub(crate) server: Peer,
    pub(crate) device: Peer,
    pub(crate) at_server: Provider,
    pub(crate) at_device: Provider,
    /// What the device heard.
    pub(crate) events: mpsc::Receiver<EventFrame>,
    pub(crate) driving: Driving,
}

/// What drives both sides; each ends with its name and why.
pub(crate) struct Driving {
    pub(crate) tasks: JoinSet<(&'static str, Lost)>,
    pub(crate) server: tokio::task::AbortHandle,
    pub(crate) device: tokio::task::AbortHandle,
}

pub(crate) fn hello(client_id: &str) -> Hello {
    Hello {
        protocol: PROTOCOL.into(),
        client_id: client_id.into(),
        client_kind: "headless".into(),
        client_version: "0.1.0".into(),
        capabilities: DeviceCapabilities::default(),
    }
}

/// Connects two sides, and waits until the device is accepted.
pub(crate) async fn connect(via: Via, limits: &Limits) -> Connection {
    match via {
        Via::Pair => {
            let (here, there) = pair();
            connect_over(here, there, limits).await
        }
        Via::Socket => {
            let (here, there) = sockets(limits).await;
            connect_over(Socket::new(here), Socket::new(there), limits).await
        }
    }
}

pub(crate) async fn connect_over(here: impl Transport, there: impl Transport, limits: &Limits) -> Connection {
    let (at_server, _) = Provider::new();
    let (at_device, events) = Provider::new();
    let mut tasks = JoinSet::new();
    let (server, driver) = Peer::start(here, at_server.clone(), Side::Server, limits.clone());
    let server_task = tasks.spawn(async { ("server", driver.await) });
    let (device, driver) =
        Peer::start(there, at_device.clone(), Side::Device(hello("client_1").into()), limits.clone());
    let device_task = tasks.spawn(async { ("device", driver.await) });
    server.accepted().await.unwrap();
    device.accepted().await.unwrap();
    let driving = Driving { tasks, server: server_task, device: device_task };
    Connection { server, device, at_server, at_device, events, driving }
}

/// A WebSocket on loopback: both ends.
pub(crate) async fn sockets(limits: &Limits) -> (WebSocketStream<TcpStream>, WebSocketStream<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (here, there) = tokio::join!(
        async {
            let stream = listener.accept().await.unwrap().0;
            stream.set_nodelay(true).unwrap();
            accept_async_with_config(stream, Some(config(limits))).await.unwrap()
        },
        async {
            let stream = TcpStream::connect(address).await.unwrap();
            stream.set_nodelay(true).unwrap();
            client_async_with_config("ws://localhost/", stream, Some(config(limits))).await.unwrap().0
        },
    );
    (here, there)
}

/// Asks, with enough time.
pub(crate) async fn ask(peer: &Peer, method: &str, params: Value) -> Call {
    peer.request(Ask::new(method, RawJson::from_value(&params)).within(Duration::from_secs(3600))).await
}

/// What comes of asking.
pub(crate) async fn outcome(peer: &Peer, method: &str, params: Value) -> Result<Value, RelayError> {
    ask(peer, method, params).await.outcome().await.map(|result| result.read().unwrap())
}

/// A bounded wait on a fact.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("it takes too long")
}

/// Waits until neither side holds anything.
pub(crate) async fn holds_nothing(peer: &Peer) {
    within(async {
        loop {
            let held = peer.held();
            if (held.calls, held.requests, held.unsent_bytes, held.unread_bytes) == (0, 0, 0, 0) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

/// Waits until everything that it asked is answered, though nobody has heard that yet.
pub(crate) async fn holds_no_call(peer: &Peer) {
    within(async {
        while peer.held().calls > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

/// A side that says whatever a test wants.
pub(crate) struct Raw(pub(crate) Pipe);

impl Raw {
    pub(crate) async fn say(&mut self, frame: Value) {
        self.say_text(&frame.to_string()).await;
    }

    pub(crate) async fn say_text(&mut self, text: &str) {
        self.say_packet(Packet::Text(text.to_owned())).await;
    }

    pub(crate) async fn say_packet(&mut self, packet: Packet) {
        within(poll_fn(|context| self.0.poll_ready(context))).await.unwrap();
        self.0.send(packet).unwrap();
    }

    /// What the other side says next, heartbeats left out.
    pub(crate) async fn hears(&mut self) -> Result<Value, Lost> {
        loop {
            let frame = self.hears_any().await?;
            if frame["type"] != "ping" {
                return Ok(frame);
            }
        }
    }

    pub(crate) async fn hears_any(&mut self) -> Result<Value, Lost> {
        match within(poll_fn(|context| self.0.poll_receive(context))).await? {
            Packet::Text(text) => Ok(serde_json::from_str(&text).unwrap()),
            Packet::Binary(bytes) => panic!("{bytes:?}"),
        }
    }

    /// What the other side closed with, because of what was said: not because of what was not.
    pub(crate) async fn closed(&mut self) -> u16 {
        let (code, reason) = self.closed_for().await;
        assert!(!["no answer", "no hello in time"].contains(&reason.as_str()), "{reason}");
        code
    }

    /// What the other side closed with, and why.
    pub(crate) async fn closed_for(&mut self) -> (u16, String) {
        loop {
            match self.hears().await {
                Ok(_) => {}
                Err(Lost::Closed { code, reason }) => return (code, reason),
                Err(lost) => panic!("{lost}"),
            }
        }
    }
}

/// A server, and a device before it has said anything.
pub(crate) fn raw(limits: &Limits) -> (Raw, Peer, Provider, JoinSet<Lost>) {
    let (here, there) = pair();
    let (provider, _) = Provider::new();
    let mut tasks = JoinSet::new();
    let (peer, driver) = Peer::start(here, provider.clone(), Side::Server, limits.clone());
    tasks.spawn(driver);
    (Raw(there), peer, provider, tasks)
}

/// A server, and a device that is accepted; it knows credit if it has a window.
pub(crate) async fn raw_open(limits: &Limits, window: Option<u64>) -> (Raw, Peer, Provider, JoinSet<Lost>) {
    let (mut raw, peer, provider, tasks) = raw(limits);
    let flow = window.map_or(json!({}), |window| json!({ "flow": { "window_bytes": window } }));
    raw.say(raw_hello(flow)).await;
    assert_eq!(raw.hears().await.unwrap()["event"], "relay.accepted");
    (raw, peer, provider, tasks)
}

pub(crate) fn raw_hello(capabilities: Value) -> Value {
    json!({
        "type": "hello", "protocol": PROTOCOL, "client_id": "raw", "client_kind": "headless",
        "client_version": "1", "capabilities": capabilities,
    })
}

pub(crate) fn raw_request(id: &str, method: &str, params: Value) -> Value {
    json!({ "type": "request", "id": id, "method": method, "params": params })
}
