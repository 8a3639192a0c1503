//! Handles the messages of the peer.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use protocol::relay::{
    EventFrame, Frame, MalformedFrame, MethodInfo, Packet, RawJson, RelayError, RelayErrorCode, RelayMethod,
    Request, Response, method::FileRead,
};
use serde::de::IgnoredAny;
use tokio::{sync::Semaphore, time::Instant};

use super::{Driver, Message, Timer, calls::Streamed, early::Stage};
use crate::{CloseCode, Lost, Reply, Transport, flow, peer};

impl<T: Transport> Driver<T> {
    /// Handles a message.
    pub(super) fn on_packet(&mut self, packet: &Packet) -> Result<(), Lost> {
        if packet.size() > self.shared.limits.frame_bytes_max {
            return Err(Lost::fault(CloseCode::TooLarge, "the message is too large"));
        }
        match packet {
            Packet::Text(text) => self.on_text(text),
            // Valid only if both sides have agreed on binary messages.
            Packet::Binary(bytes) if self.theirs.bytes => match Packet::read(bytes) {
                Ok(response) => self.on_response(response),
                Err(malformed) => Err(Lost::policy(malformed.reason)),
            },
            Packet::Binary(_) => Err(Lost::policy("a binary message")),
        }
    }

    fn on_text(&mut self, text: &str) -> Result<(), Lost> {
        match Frame::read(text) {
            Ok(frame) if matches!(self.stage, Stage::Open) => self.on_frame(frame, text.len()),
            Ok(frame) => self.on_early(frame),
            Err(MalformedFrame { reason, request: Some(id) }) => {
                self.answer(id, Err(RelayError::new(RelayErrorCode::InvalidRequest, reason)));
                Ok(())
            }
            Err(MalformedFrame { reason, request: None }) => {
                let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
                Err(Lost::fault(if is_json { CloseCode::Policy } else { CloseCode::Invalid }, reason))
            }
        }
    }

    fn on_frame(&mut self, frame: Frame, bytes: usize) -> Result<(), Lost> {
        match frame {
            Frame::Hello(_) => return Err(Lost::policy("a second hello")),
            Frame::Event(event) => self.on_event(event)?,
            Frame::Request(request) => self.on_request(request),
            Frame::Response(response) => self.on_response(response)?,
            Frame::Stream(stream) => {
                if let Streamed::Overrun(key) =
                    self.calls.stream(stream, bytes, self.theirs.window.is_some())?
                {
                    let error = RelayError::new(
                        RelayErrorCode::ProviderError,
                        "the reader of this stream is too slow",
                    );
                    self.give_up(key, Some(error.with("reason", "slow_consumer")), "slow_consumer");
                }
            }
            Frame::Cancel(cancel) => self.on_cancel(&cancel.id),
            Frame::Ping(beat) => self.outbox.urgent(Frame::Pong(beat).write()),
            Frame::Pong(beat) => self.heartbeat.answered(&beat),
        }
        Ok(())
    }

    fn on_response(&mut self, response: Response) -> Result<(), Lost> {
        let (key, deadline) = self.calls.answer(response)?;
        self.timers.unset(deadline, Timer::Call(key));
        Ok(())
    }

    fn on_event(&mut self, event: EventFrame) -> Result<(), Lost> {
        if event.event != flow::CREDIT || self.theirs.window.is_none() {
            self.handler.event(event);
            return Ok(());
        }
        let credit: flow::Credit =
            event.payload.read().map_err(|_| Lost::policy("a credit frame is invalid"))?;
        self.requests.credit(&credit.id, credit.bytes);
        Ok(())
    }

    fn on_request(&mut self, request: Request) {
        let limits = self.shared.limits.clone();
        if self.requests.has(&request.id) {
            let error =
                RelayError::new(RelayErrorCode::InvalidRequest, "a request with this id is still open");
            return self.answer(request.id, Err(error));
        }
        if self.requests.len() >= limits.requests_max {
            return self.answer(request.id, Err(busy(limits.requests_max)));
        }
        let row = MethodInfo::find(&request.method);
        let family = row.map(|row| row.family);
        // Requests that control a running operation are exempt, or a full family could not even be cancelled.
        if let Some(family) = row.filter(|row| !row.controls_running_operation()).map(|row| row.family)
            && self.requests.of(family) >= limits.family_requests_max
        {
            let error = busy(limits.family_requests_max).with("capability", family.as_str());
            return self.answer(request.id, Err(error));
        }
        let (key, cancelled, credit) = self.requests.insert(&request.id, family, self.theirs.window);
        let mut reply = Reply {
            key,
            id: request.id.clone(),
            seq: 0,
            frame_bytes_max: limits.frame_bytes_max,
            room: Arc::new(Semaphore::new(limits.unsent_bytes_max as usize)),
            unsent_bytes_max: limits.unsent_bytes_max,
            takes_bytes: self.has_bytes(&request.method),
            credit,
            unsent: self.shared.gauges.unsent.clone(),
            cancelled,
            connection: self.requests.connection(),
            door: self.door.clone(),
        };
        let (handler, door) = (self.handler.clone(), self.door.clone());
        self.requests.spawn(Some(key), async move {
            // Our release build aborts on a panic. Other programs that use this crate may not.
            let outcome = AssertUnwindSafe(handler.request(request, &mut reply)).catch_unwind().await;
            let outcome = outcome.unwrap_or_else(|_| {
                Err(RelayError::new(RelayErrorCode::ProviderError, "the provider failed"))
            });
            let outcome = outcome.and_then(|result| reply.need_taken(result));
            // It uses the same channel as the stream, so that it stays behind it. If the connection is lost, it no longer matters.
            let _ = door.send(Message::Done { key, outcome }).await;
        });
    }

    /// Cancels a request; one that is unknown or has ended is ignored.
    fn on_cancel(&mut self, id: &str) {
        let grace = Instant::now() + self.shared.limits.cancel_wait_max;
        if let Some(key) = self.requests.cancel(id, grace) {
            self.outbox.forget(key);
            self.timers.set(grace, Timer::Grace(key));
        }
    }

    pub(super) fn on_grace_over(&mut self, key: u64) {
        if let Some((id, error)) = self.requests.drop_late(key) {
            self.answer(id, Err(error));
        }
    }

    /// Responds to a request that is not running.
    pub(super) fn answer(&mut self, id: String, outcome: Result<RawJson, RelayError>) {
        let packet = self.response(id, outcome);
        self.outbox.whole(packet);
    }

    /// The response as a message; an error if it is too large for one.
    pub(super) fn response(&self, id: String, outcome: Result<RawJson, RelayError>) -> Packet {
        let packet = Packet::from(Response { id: id.clone(), outcome });
        match peer::fits(packet.size(), &self.shared.limits) {
            Ok(()) => packet,
            Err(error) => {
                let error = RelayError { code: RelayErrorCode::ProviderError, ..error };
                Response { id, outcome: Err(error) }.into()
            }
        }
    }

    /// Whether the result of this method may be a binary message.
    pub(super) fn has_bytes(&self, method: &str) -> bool {
        self.theirs.bytes && method == FileRead::INFO.name
    }
}

/// The error for a request that exceeds a limit of concurrent requests.
pub(super) fn busy(limit: usize) -> RelayError {
    let error = RelayError::new(RelayErrorCode::ProviderError, "too many requests are open; try again later");
    error.with("reason", "busy").with("limit", limit)
}
