//! Handles the messages and signals of this side.

use std::sync::atomic::Ordering::Relaxed;

use protocol::relay::{CancelFrame, Frame, RawJson, RelayError, Request};
use tokio::{sync::mpsc, time::Instant};

use super::{Driver, Message, Timer, calls::Calls, early::Stage, incoming::busy};
use crate::{Ask, Lost, Transport, bell::Ring, call::Heard, flow::Credit, limits::CANCEL_WAITS_MAX, peer};

impl<T: Transport> Driver<T> {
    pub(super) fn on_message(&mut self, message: Message) -> Result<(), Lost> {
        match message {
            Message::Accept(accepted) => return self.on_accept(accepted),
            Message::Event(text) => self.outbox.whole(text),
            // The call was cancelled before its request was sent.
            Message::Ask { parts, unwanted, .. } if unwanted.load(Relaxed) => {
                let _ = parts.try_send(Heard::Outcome(Err(peer::cancelled())));
            }
            Message::Ask { key, ask, deadline, parts, .. } => self.on_ask(key, *ask, deadline, parts),
            Message::Stream { key, queued } => {
                if self.requests.is_wanted(key) {
                    self.outbox.stream(key, queued);
                }
            }
            Message::Done { key, outcome } => self.on_done(key, outcome),
        }
        Ok(())
    }

    fn on_ask(&mut self, key: u64, ask: Ask, deadline: Instant, parts: mpsc::Sender<Heard>) {
        if parts.is_closed() {
            return;
        }
        let has_bytes = self.has_bytes(&ask.method);
        match self.ask(key, ask) {
            Ok(text) => {
                self.calls.insert(key, parts, deadline, has_bytes);
                self.timers.set(deadline, Timer::Call(key));
                self.outbox.request(key, text);
            }
            Err(error) => {
                // The caller may have stopped waiting.
                let _ = parts.try_send(Heard::Outcome(Err(error)));
            }
        }
    }

    /// The request as it is sent.
    ///
    /// # Errors
    /// If it may not be sent.
    fn ask(&self, key: u64, ask: Ask) -> Result<String, RelayError> {
        let limits = &self.shared.limits;
        if !matches!(self.stage, Stage::Open) {
            return Err(peer::not_accepted());
        }
        if self.calls.len() >= limits.calls_max {
            return Err(busy(limits.calls_max));
        }
        let Ask { method, params, context, .. } = ask;
        let text = Frame::Request(Request { id: Calls::id(key), method, params, context }).write();
        peer::fits(text.len(), limits).map(|()| text)
    }

    fn on_done(&mut self, key: u64, outcome: Result<RawJson, RelayError>) {
        let Some((id, outcome, grace)) = self.requests.finish(key, outcome) else { return };
        if let Some(grace) = grace {
            self.timers.unset(grace, Timer::Grace(key));
        }
        let packet = self.response(id, outcome);
        self.outbox.response(key, packet);
    }

    pub(super) fn on_ring(&mut self, ring: Ring) {
        match ring {
            Ring::Cancelled { call } => self.cancel(call, "cancelled"),
            Ring::Dropped { call } => self.give_up(call, None, "dropped"),
            Ring::Read { call, bytes } => {
                if self.calls.read(call, bytes) && self.theirs.window.is_some() {
                    self.outbox.urgent(Credit { id: Calls::id(call), bytes }.frame().write());
                }
            }
        }
    }

    /// Times out a call. If it was cancelled before, the peer does not respond, and the connection ends.
    pub(super) fn on_timeout(&mut self, key: u64) -> Result<(), Lost> {
        if self.calls.is_cancelled(key) {
            return Err(Lost::Silent);
        }
        self.give_up(key, Some(peer::timed_out()), "timeout");
        Ok(())
    }

    /// Ends a call for its caller, and cancels its request.
    pub(super) fn give_up(&mut self, key: u64, outcome: Option<RelayError>, reason: &str) {
        self.calls.give_up(key, outcome);
        self.cancel(key, reason);
    }

    /// Sends a cancellation once, unless the request was not sent yet.
    fn cancel(&mut self, key: u64, reason: &str) {
        let until = Instant::now() + CANCEL_WAITS_MAX * self.shared.limits.cancel_wait_max;
        let Some(deadline) = self.calls.cancel(key, until) else { return };
        self.timers.unset(deadline, Timer::Call(key));
        if self.outbox.withdraw(key) {
            self.calls.take_back(key);
        } else {
            self.timers.set(until, Timer::Call(key));
            let cancel = CancelFrame { id: Calls::id(key), reason: Some(reason.into()) };
            self.outbox.urgent(Frame::Cancel(cancel).write());
        }
    }
}
