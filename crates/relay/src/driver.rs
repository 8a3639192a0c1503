//! The driver of a connection: the one task that owns its state and waits for all of its events.

mod calls;
mod early;
mod heartbeat;
mod incoming;
mod outbox;
mod outgoing;
mod requests;
mod timers;
mod wire;

use std::sync::Arc;

use protocol::relay::{RawJson, RelayError};
use serde_json::{Map, Value};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, timeout},
};
use websocket::CLOSE_WAIT_MAX;

use self::{
    calls::Calls,
    early::Stage,
    heartbeat::Heartbeat,
    outbox::Outbox,
    requests::Requests,
    timers::{Timer, Timers},
    wire::{Moved, Wire},
};
use crate::{
    Ask, Handler, Lost, Refused, Side, Transport,
    call::{Heard, Unwanted},
    limits::{UNHEARD_BYTES_MAX, UNHEARD_FRAMES_MAX, UNSENT_BYTES_MAX, UNSENT_FRAMES_MAX},
    lost::LATE,
    peer::Shared,
    reply::Queued,
    takes::Takes,
};

/// A message to the driver.
#[derive(Debug)]
pub(crate) enum Message {
    /// Send a request.
    Ask { key: u64, ask: Box<Ask>, deadline: Instant, parts: mpsc::Sender<Heard>, unwanted: Unwanted },
    /// Send an event.
    Event(String),
    /// Send a chunk of a stream.
    Stream { key: u64, queued: Queued },
    /// A request of the peer has an outcome.
    Done { key: u64, outcome: Result<RawJson, RelayError> },
    /// The handler has accepted a device, or refused it.
    Accept(Result<Map<String, Value>, Refused>),
}

pub(crate) struct Driver<T> {
    wire: Wire<T>,
    handler: Arc<dyn Handler>,
    shared: Shared,
    door: mpsc::Sender<Message>,
    inbox: mpsc::Receiver<Message>,
    accept: watch::Sender<Option<RawJson>>,
    stage: Stage,
    /// The optional features of the peer; none before they are known.
    theirs: Takes,
    outbox: Outbox,
    calls: Calls,
    requests: Requests,
    heartbeat: Heartbeat,
    timers: Timers,
}

impl<T: Transport> Driver<T> {
    pub(crate) fn new(
        transport: T,
        handler: Arc<dyn Handler>,
        side: Side,
        shared: Shared,
        door: mpsc::Sender<Message>,
        inbox: mpsc::Receiver<Message>,
        accept: watch::Sender<Option<RawJson>>,
    ) -> Self {
        Self {
            wire: Wire::new(transport),
            handler,
            door,
            inbox,
            accept,
            stage: Stage::Starting(side),
            theirs: Takes::default(),
            outbox: Outbox::default(),
            calls: Calls::new(&shared),
            requests: Requests::new(&shared),
            heartbeat: Heartbeat::new(&shared),
            timers: Timers::new(),
            shared,
        }
    }

    /// Drives the connection until it ends, and returns why.
    pub(crate) async fn run(mut self) -> Lost {
        self.start();
        let lost = loop {
            if let Err(lost) = self.step().await {
                break self.shared.end.is(lost);
            }
        };
        self.end(&lost).await;
        lost
    }

    /// Handles one event.
    async fn step(&mut self) -> Result<(), Lost> {
        let hears = self.outbox.has_room(UNHEARD_FRAMES_MAX, UNHEARD_BYTES_MAX);
        let takes = self.outbox.has_room(UNSENT_FRAMES_MAX, UNSENT_BYTES_MAX);
        tokio::select! {
            () = self.shared.stop.cancelled() => Err(Lost::Stopped(String::new())),
            moved = self.wire.moves(&mut self.outbox, hears) => match moved? {
                Moved::Sent => Ok(()),
                Moved::Received(packet) => self.on_packet(&packet),
            },
            Some(message) = self.inbox.recv(), if takes => self.on_message(message),
            rings = self.shared.bell.heard() => {
                rings.into_iter().for_each(|ring| self.on_ring(ring));
                Ok(())
            }
            () = self.requests.reaped() => Ok(()),
            timer = self.timers.next() => self.on_timer(timer),
        }
    }

    fn on_timer(&mut self, timer: Timer) -> Result<(), Lost> {
        match timer {
            Timer::Hello => return Err(Lost::policy(LATE)),
            Timer::Heartbeat => {
                self.outbox.urgent(self.heartbeat.ask()?.write());
                self.timers.set(Instant::now() + self.shared.limits.heartbeat, Timer::Heartbeat);
            }
            Timer::Call(key) => return self.on_timeout(key),
            Timer::Grace(key) => self.on_grace_over(key),
        }
        Ok(())
    }

    /// Ends the calls, cancels the requests of the peer and closes the transport.
    async fn end(mut self, lost: &Lost) {
        self.calls.end();
        self.requests.cancel_all();
        // Senders that wait for room in the channel fail now.
        drop(self.inbox);
        let _ = timeout(CLOSE_WAIT_MAX, self.wire.close(lost.farewell())).await;
        drop(self.wire);
        let _ = timeout(self.shared.limits.cancel_wait_max, self.requests.ended()).await;
        self.requests.abort().await;
    }
}
