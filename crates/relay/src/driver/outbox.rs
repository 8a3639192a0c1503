//! The queue of messages to send, with priorities.

use std::collections::{HashMap, VecDeque};

use protocol::relay::Packet;

use crate::{limits::OVERTAKING_MAX, reply::Queued};

/// The messages to send. Urgent ones go first, then whole ones; streams share the rest in turns.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// Heartbeats, cancellations and credit: they are small, and the peer waits for them.
    urgent: VecDeque<Packet>,
    /// Requests with the key of their call, responses and events.
    whole: VecDeque<(Option<u64>, Packet)>,
    /// The streams of the peer's requests, by key.
    lanes: HashMap<u64, Lane>,
    /// The lanes with frames, in the order of their turns.
    turns: VecDeque<u64>,
    /// The bytes of all messages that belong to no stream.
    bytes: usize,
    /// The number of whole frames sent since the last turn of a lane.
    overtaken: usize,
}

/// The queued frames of one stream, and the response after them.
#[derive(Debug, Default)]
struct Lane {
    frames: VecDeque<Queued>,
    response: Option<Packet>,
}

impl Outbox {
    /// Whether fewer messages are queued than the limits. Streams do not count, because each has its own limit.
    pub(crate) fn has_room(&self, frames_max: usize, bytes_max: usize) -> bool {
        self.urgent.len() + self.whole.len() < frames_max && self.bytes < bytes_max
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.urgent.is_empty() && self.whole.is_empty() && self.turns.is_empty()
    }

    pub(crate) fn urgent(&mut self, text: String) {
        self.bytes += text.len();
        self.urgent.push_back(text.into());
    }

    pub(crate) fn whole(&mut self, packet: impl Into<Packet>) {
        let packet = packet.into();
        self.bytes += packet.size();
        self.whole.push_back((None, packet));
    }

    pub(crate) fn request(&mut self, call: u64, text: String) {
        self.bytes += text.len();
        self.whole.push_back((Some(call), text.into()));
    }

    /// Removes a request that is not sent yet; returns whether it was still queued.
    pub(crate) fn withdraw(&mut self, call: u64) -> bool {
        let place = self.whole.iter().position(|(key, _)| *key == Some(call));
        let Some((_, packet)) = place.and_then(|place| self.whole.remove(place)) else { return false };
        self.bytes -= packet.size();
        true
    }

    /// Queues a chunk of a stream.
    pub(crate) fn stream(&mut self, request: u64, queued: Queued) {
        let lane = self.lanes.entry(request).or_default();
        if lane.frames.is_empty() {
            self.turns.push_back(request);
        }
        lane.frames.push_back(queued);
    }

    /// Queues a response after the frames of its own stream, but not after those of others.
    pub(crate) fn response(&mut self, request: u64, packet: Packet) {
        match self.lanes.get_mut(&request) {
            Some(lane) => {
                self.bytes += packet.size();
                lane.response = Some(packet);
            }
            None => self.whole(packet),
        }
    }

    /// Drops the queued frames of a stream that has no response yet.
    pub(crate) fn forget(&mut self, request: u64) {
        if self.lanes.remove(&request).is_some() {
            self.turns.retain(|turn| *turn != request);
        }
    }

    /// Removes the next message to send.
    pub(crate) fn next(&mut self) -> Option<Packet> {
        let may_overtake = self.overtaken < OVERTAKING_MAX || self.turns.is_empty();
        let packet = match self.urgent.pop_front() {
            Some(packet) => packet,
            None if may_overtake && !self.whole.is_empty() => {
                self.overtaken += 1;
                self.whole.pop_front()?.1
            }
            None => return self.turn(),
        };
        self.bytes -= packet.size();
        Some(packet)
    }

    fn turn(&mut self) -> Option<Packet> {
        self.overtaken = 0;
        let request = self.turns.pop_front()?;
        let lane = self.lanes.get_mut(&request)?;
        let queued = lane.frames.pop_front()?;
        if !lane.frames.is_empty() {
            self.turns.push_back(request);
        } else if let Some(response) = self.lanes.remove(&request).and_then(|lane| lane.response) {
            // `response` has counted its bytes already.
            self.whole.push_back((None, response));
        }
        Some(queued.text.into())
    }
}
