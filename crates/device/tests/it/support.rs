//! A device that is lent in this process, and a hub to ask it through.

use std::{
    sync::Arc,
    task::{Context as Task, Poll},
    time::Duration,
};

use async_trait::async_trait;
use device::Device;
use jiff::Timestamp;
use parking_lot::Mutex;
use protocol::relay::{
    EventFrame, Family, Hello, MethodInfo, PROTOCOL, Packet, RawJson, RelayAccepted, RelayContext,
    RelayError, RelayErrorCode, RelayMethod, Request, RequestLimits,
};
use relay::{Ask, Call, CloseCode, Handler, Limits, Lost, Peer, Pipe, Refused, Reply, Side, Transport, pair};
use serde_json::{Map, Value};
use testkit::within;
use tokio::task::JoinSet;

/// How long anything may take that a test waits for.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// The first frame of a device: what it offers under the name `laptop`.
pub(crate) fn hello(device: &Device) -> Hello {
    Hello {
        protocol: PROTOCOL.into(),
        client_id: "laptop".into(),
        client_kind: "headless".into(),
        client_version: "0.1.0".into(),
        capabilities: device.offer(),
    }
}

/// A device that is lent in this process, over the engine of the relay.
pub(crate) struct Lent {
    /// The hub's side: what it is asked, the device answers.
    pub(crate) peer: Peer,
    frames: Frames,
    _driving: JoinSet<Lost>,
}

type Frames = Arc<Mutex<Vec<String>>>;

impl Lent {
    /// Connects a device to a hub that accepts everything.
    pub(crate) async fn connect(device: Device) -> Self {
        Self::connect_with(device, Limits::default()).await
    }

    /// The same, with other limits on both sides.
    pub(crate) async fn connect_with(device: Device, limits: Limits) -> Self {
        Self::connect_to(Hub::default(), device, limits).await
    }

    /// Connects a device to a hub that accepts it for this, and lets it speak.
    pub(crate) async fn connect_for(device: Device, families: Vec<Family>) -> Self {
        let accepted = RelayAccepted {
            connection_id: "conn_1".into(),
            accepted_capabilities: families,
            accepted_roots: None,
            server_time: Timestamp::now(),
            flow: None,
            extensions: Vec::new(),
        };
        let Ok(Value::Object(accepted)) = serde_json::to_value(accepted) else { unreachable!() };
        Self::connect_to(Hub(accepted), device, Limits::default()).await
    }

    async fn connect_to(hub: Hub, device: Device, limits: Limits) -> Self {
        let speaks = !hub.0.is_empty();
        let (here, there) = pair();
        let hello = hello(&device);
        let frames = Frames::default();
        let there = Recorded { pipe: there, frames: frames.clone() };
        let mut driving = JoinSet::new();
        let (peer, driver) = Peer::start(here, hub, Side::Server, limits.clone());
        driving.spawn(driver);
        let (theirs, driver) = Peer::start(there, device.clone(), Side::Device(hello.into()), limits);
        driving.spawn(driver);
        if speaks {
            driving.spawn(async move {
                device.speak(&theirs).await;
                Lost::Gone
            });
        }
        within(SOON, peer.accepted()).await.unwrap();
        Self { peer, frames, _driving: driving }
    }

    /// What comes of asking.
    pub(crate) async fn ask<M: RelayMethod>(&self, params: &M::Params) -> Result<M::Result, RelayError> {
        let outcome = self.call(M::INFO.name, RawJson::from_value(params), None).await.outcome();
        within(SOON, outcome).await.map(|json| M::result(&json).unwrap())
    }

    /// The same, with parameters that need not be right.
    pub(crate) async fn ask_any(&self, method: &str, params: Value) -> Result<Value, RelayError> {
        let outcome = self.call(method, RawJson::from_value(&params), None).await.outcome();
        within(SOON, outcome).await.map(|json| json.read().unwrap())
    }

    /// The same, under terms that the hub sets.
    pub(crate) async fn ask_under(
        &self,
        terms: RequestLimits,
        method: &str,
        params: Value,
    ) -> Result<Value, RelayError> {
        let context = RelayContext { terms: Some(terms), ..RelayContext::default() };
        let outcome = self.call(method, RawJson::from_value(&params), Some(context)).await.outcome();
        within(SOON, outcome).await.map(|json| json.read().unwrap())
    }

    /// A request that goes on: what it streams, and what comes of it. Dropped, it is cancelled.
    pub(crate) async fn call(&self, method: &str, params: RawJson, context: Option<RelayContext>) -> Call {
        assert!(MethodInfo::find(method).is_some(), "there is no method {method}");
        let ask = Ask::new(method, params).within(Duration::from_secs(600));
        let ask = match context {
            Some(context) => ask.context(context),
            None => ask,
        };
        self.peer.request(ask).await
    }

    /// Every frame that the device has sent so far, as it was sent.
    pub(crate) fn said(&self) -> Vec<String> {
        self.frames.lock().clone()
    }
}

/// A hub that accepts a device with this, and answers nothing.
#[derive(Default)]
struct Hub(Map<String, Value>);

#[async_trait]
impl Handler for Hub {
    async fn hello(&self, _: Hello) -> Result<Map<String, Value>, Refused> {
        Ok(self.0.clone())
    }

    async fn request(&self, _: Request, _: &mut Reply) -> Result<RawJson, RelayError> {
        Err(RelayError::new(RelayErrorCode::UnknownMethod, "nothing is asked of a hub here"))
    }

    fn event(&self, _: EventFrame) {}
}

/// The device's end of a connection, with all that it says.
struct Recorded {
    pipe: Pipe,
    frames: Frames,
}

impl Transport for Recorded {
    fn poll_receive(&mut self, task: &mut Task<'_>) -> Poll<Result<Packet, Lost>> {
        self.pipe.poll_receive(task)
    }

    fn poll_ready(&mut self, task: &mut Task<'_>) -> Poll<Result<(), Lost>> {
        self.pipe.poll_ready(task)
    }

    fn carries_bytes(&self) -> bool {
        self.pipe.carries_bytes()
    }

    fn send(&mut self, packet: Packet) -> Result<(), Lost> {
        self.frames.lock().push(match &packet {
            Packet::Text(text) => text.clone(),
            Packet::Binary(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        });
        self.pipe.send(packet)
    }

    fn poll_flush(&mut self, task: &mut Task<'_>) -> Poll<Result<(), Lost>> {
        self.pipe.poll_flush(task)
    }

    fn close(&mut self, code: CloseCode, reason: String) {
        self.pipe.close(code, reason);
    }
}
