//! The handshake: everything until a device is accepted.

use protocol::relay::{EventFrame, Frame, Hello, PROTOCOL, RawJson, RelayError, RelayErrorCode};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::{Driver, Message, Timer};
use crate::{Lost, Refused, Side, Transport, flow, takes::Takes};

/// The stage of a connection.
#[derive(Debug)]
pub(super) enum Stage {
    /// Nothing was sent.
    Starting(Side),
    /// The device must send its hello by this time.
    Expecting(Instant),
    /// The device has sent its hello, with its optional features, and the handler checks it.
    Accepting(Instant, Takes),
    /// This side is the device and has sent its hello.
    Asked(Instant),
    /// The device is accepted.
    Open,
}

impl<T: Transport> Driver<T> {
    /// Starts the handshake: a device sends its hello.
    pub(super) fn start(&mut self) {
        let until = Instant::now() + self.shared.limits.hello_wait_max;
        self.timers.set(until, Timer::Hello);
        let Stage::Starting(side) = std::mem::replace(&mut self.stage, Stage::Expecting(until)) else {
            return;
        };
        if let Side::Device(mut hello) = side {
            self.takes().offer(&mut hello.capabilities);
            self.outbox.urgent(Frame::Hello(*hello).write());
            self.stage = Stage::Asked(until);
        }
    }

    /// Handles a frame before the device is accepted.
    pub(super) fn on_early(&mut self, frame: Frame) -> Result<(), Lost> {
        match (&self.stage, frame) {
            (_, Frame::Request(request)) => {
                let error = RelayError::new(
                    RelayErrorCode::InvalidRequest,
                    "the hub has not accepted this connection yet",
                );
                self.answer(request.id, Err(error));
                Ok(())
            }
            (Stage::Expecting(until), Frame::Hello(hello)) => self.on_hello(hello, *until),
            (Stage::Asked(until), Frame::Event(event)) if event.event == flow::ACCEPTED => {
                let until = *until;
                self.open(until, Takes::accepted(&event.payload), event.payload);
                Ok(())
            }
            (Stage::Accepting(..), Frame::Hello(_)) => Err(Lost::policy("a second hello")),
            _ => Err(Lost::policy("a frame was sent before the device was accepted")),
        }
    }

    fn on_hello(&mut self, hello: Hello, until: Instant) -> Result<(), Lost> {
        if hello.protocol != PROTOCOL {
            let theirs: String = hello.protocol.chars().filter(|char| !char.is_control()).take(40).collect();
            return Err(Lost::Refused(format!("unsupported protocol {theirs}; this side speaks {PROTOCOL}")));
        }
        self.stage = Stage::Accepting(until, Takes::offered(&hello.capabilities));
        let (handler, door) = (self.handler.clone(), self.door.clone());
        self.requests.spawn(None, async move {
            let accepted = handler.hello(hello).await;
            // If the connection is lost, the decision no longer matters.
            let _ = door.send(Message::Accept(accepted)).await;
        });
        Ok(())
    }

    /// Handles the decision of the handler about the device.
    pub(super) fn on_accept(&mut self, accepted: Result<Map<String, Value>, Refused>) -> Result<(), Lost> {
        let mut accepted = accepted.map_err(|Refused(reason)| Lost::Refused(reason))?;
        let Stage::Accepting(until, theirs) = self.stage else { return Ok(()) };
        self.takes().accept(theirs, &mut accepted);
        let payload = RawJson::from_value(&accepted);
        let event = EventFrame { event: flow::ACCEPTED.into(), payload: payload.clone() };
        // It is urgent, so that no other frame precedes it.
        self.outbox.urgent(Frame::Event(event).write());
        self.open(until, theirs, payload);
        Ok(())
    }

    fn takes(&self) -> Takes {
        Takes::ours(self.shared.limits.window_bytes, self.wire.carries_bytes())
    }

    fn open(&mut self, until: Instant, theirs: Takes, accepted: RawJson) {
        self.timers.unset(until, Timer::Hello);
        self.timers.set(Instant::now(), Timer::Heartbeat);
        self.theirs = Takes { bytes: theirs.bytes && self.wire.carries_bytes(), ..theirs };
        // A connection opens once, so it is not set yet.
        let _ = self.shared.takes_bytes.set(self.theirs.bytes);
        self.stage = Stage::Open;
        self.accept.send_replace(Some(accepted));
    }
}
