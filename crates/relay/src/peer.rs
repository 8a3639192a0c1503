//! The handle of one side of a connection.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use protocol::relay::{EventFrame, Frame, Hello, RawJson, RelayError, RelayErrorCode};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;

use crate::{
    Ask, Call, Handler, Held, Limits, Lost, Transport,
    bell::Bell,
    call::Heard,
    driver::{Driver, Message},
    held::Gauge,
    limits::INBOX_MAX,
};

/// The handle of one side of a connection, for sending requests. It is cheap to clone, and the connection does not depend on it.
#[derive(Debug, Clone)]
pub struct Peer {
    door: mpsc::Sender<Message>,
    shared: Shared,
    keys: Arc<AtomicU64>,
    accepted: watch::Receiver<Option<RawJson>>,
}

/// The side of a connection.
#[derive(Debug, Clone)]
pub enum Side {
    /// The device, which connects and sends its hello.
    Device(Box<Hello>),
    /// The server, to which devices connect.
    Server,
}

/// The state that the handles and the driver of a connection share.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) limits: Arc<Limits>,
    pub(crate) bell: Bell,
    pub(crate) end: Arc<End>,
    pub(crate) stop: CancellationToken,
    pub(crate) gauges: Gauges,
    /// Whether both sides support binary messages, once that is known.
    pub(crate) takes_bytes: Arc<OnceLock<bool>>,
    /// In microseconds; the largest value if it is not measured yet.
    pub(crate) latency: Arc<AtomicU64>,
}

/// The counters of a connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gauges {
    pub(crate) calls: Gauge,
    pub(crate) requests: Gauge,
    pub(crate) unsent: Gauge,
    pub(crate) unread: Gauge,
}

/// Why the connection ended or is about to end, once known.
#[derive(Debug, Default)]
pub(crate) struct End(OnceLock<Lost>);

impl End {
    /// Sets the reason unless there is one, and returns the first.
    pub(crate) fn is(&self, lost: Lost) -> Lost {
        self.0.get_or_init(|| lost).clone()
    }

    pub(crate) fn outcome(&self) -> RelayError {
        self.0.get().unwrap_or(&Lost::Gone).outcome()
    }
}

impl Peer {
    /// Starts one side of a connection. Returns the handle, and the future that drives the connection until it ends and returns why.
    /// Dropping the future ends the connection, and all waiting calls fail.
    pub fn start(
        transport: impl Transport,
        handler: impl Handler,
        side: Side,
        limits: Limits,
    ) -> (Self, impl Future<Output = Lost> + Send) {
        let (door, inbox) = mpsc::channel(INBOX_MAX);
        let (accept, accepted) = watch::channel(None);
        let shared = Shared {
            limits: Arc::new(limits),
            bell: Bell::default(),
            end: Arc::default(),
            stop: CancellationToken::new(),
            gauges: Gauges::default(),
            takes_bytes: Arc::default(),
            latency: Arc::new(AtomicU64::new(u64::MAX)),
        };
        let driver =
            Driver::new(transport, Arc::new(handler), side, shared.clone(), door.clone(), inbox, accept);
        (Self { door, shared, keys: Arc::default(), accepted }, driver.run())
    }

    /// Waits until the device is accepted, and returns the payload of `relay.accepted`.
    ///
    /// # Errors
    /// If the connection ended.
    pub async fn accepted(&self) -> Result<RawJson, RelayError> {
        let mut accepted = self.accepted.clone();
        let said = accepted.wait_for(Option::is_some).await.map_err(|_| self.shared.end.outcome())?;
        said.clone().ok_or_else(|| self.shared.end.outcome())
    }

    /// Sends a request. Every failure is an outcome of the call.
    pub async fn request(&self, ask: Ask) -> Call {
        let limits = &self.shared.limits;
        let key = self.keys.fetch_add(1, Relaxed);
        let deadline = Instant::now() + ask.timeout.unwrap_or(limits.timeout);
        let (call, parts, unwanted) =
            Call::new(key, limits.window_bytes, self.shared.bell.clone(), self.shared.end.clone());
        match timeout_at(deadline, self.door.reserve()).await {
            Ok(Ok(door)) => door.send(Message::Ask { key, ask: ask.into(), deadline, parts, unwanted }),
            // The call ends without an outcome, because the sender of its parts is dropped.
            Ok(Err(_)) => {}
            Err(_) => {
                let _ = parts.try_send(Heard::Outcome(Err(timed_out())));
            }
        }
        call
    }

    /// Sends an event.
    ///
    /// # Errors
    /// If it is too large, the device is not accepted yet, or the connection has ended.
    pub async fn event(&self, event: impl Into<String>, payload: RawJson) -> Result<(), RelayError> {
        if self.accepted.borrow().is_none() {
            return Err(not_accepted());
        }
        let text = Frame::Event(EventFrame { event: event.into(), payload }).write();
        fits(text.len(), &self.shared.limits)?;
        self.door.send(Message::Event(text)).await.map_err(|_| self.shared.end.outcome())
    }

    /// Whether a file can be read here as [`ReadEncoding::Binary`](protocol::relay::file::ReadEncoding::Binary).
    pub fn takes_bytes(&self) -> bool {
        self.shared.takes_bytes.get().is_some_and(|takes| *takes)
    }

    /// The time that the peer took to answer the last heartbeat.
    pub fn latency(&self) -> Option<Duration> {
        match self.shared.latency.load(Relaxed) {
            u64::MAX => None,
            micros => Some(Duration::from_micros(micros)),
        }
    }

    /// The resources that the connection holds.
    pub fn held(&self) -> Held {
        let Gauges { calls, requests, unsent, unread } = &self.shared.gauges;
        Held {
            calls: calls.now(),
            requests: requests.now(),
            unsent_bytes: unsent.now(),
            unsent_bytes_peak: unsent.peak(),
            unread_bytes: unread.now(),
            unread_bytes_peak: unread.peak(),
        }
    }

    /// The outcome of requests if the connection has ended or is about to; `None` otherwise.
    pub fn ended(&self) -> Option<RelayError> {
        let is_over = self.shared.stop.is_cancelled() || self.door.is_closed();
        is_over.then(|| self.shared.end.outcome())
    }

    /// Waits until the connection has ended or is about to, and returns the outcome of its requests.
    pub async fn until_ended(&self) -> RelayError {
        tokio::select! {
            () = self.shared.stop.cancelled() => {}
            () = self.door.closed() => {}
        }
        self.shared.end.outcome()
    }

    /// Closes the connection with a reason for the peer.
    pub fn close(&self, reason: impl Into<String>) {
        self.shared.end.is(Lost::Stopped(reason.into()));
        self.shared.stop.cancel();
    }
}

pub(crate) fn timed_out() -> RelayError {
    RelayError::new(RelayErrorCode::Timeout, "the request timed out")
}

pub(crate) fn cancelled() -> RelayError {
    RelayError::new(RelayErrorCode::Cancelled, "the request was cancelled")
}

pub(crate) fn not_accepted() -> RelayError {
    RelayError::new(RelayErrorCode::RelayDisconnected, "the hub has not accepted this connection yet")
}

/// Checks that a message is not too large.
pub(crate) fn fits(actual: usize, limits: &Limits) -> Result<(), RelayError> {
    let limit = limits.frame_bytes_max;
    if actual <= limit {
        return Ok(());
    }
    let error = RelayError::new(RelayErrorCode::InvalidRequest, "the request is too large for one message");
    Err(error.with("limit", limit).with("actual", actual))
}
