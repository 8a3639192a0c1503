//! The events that the next commit stores.

use bytes::Bytes;
use jiff::Timestamp;
use journal::FrameBuffer;
use protocol::{AgentName, Event, EventId, SessionId};

use crate::frame::{self, RecordBody};

/// The size to which the encoding buffer shrinks after a large event.
const SCRATCH_BYTES_MAX: usize = 4 << 10;

/// The events that the next commit stores, encoded as frames.
#[derive(Debug, Default)]
pub(crate) struct EventBatch {
    frames: Vec<Bytes>,
    /// The buffer in which frames are encoded.
    scratch: Vec<u8>,
}

/// The origin of an event.
pub(crate) struct EventOrigin<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) agent: &'a AgentName,
    pub(crate) agent_session_id: Option<&'a str>,
    /// Whether the daemon concluded the event, or a client caused it, rather than the agent.
    pub(crate) is_synthetic: bool,
}

impl EventBatch {
    pub(crate) fn push(&mut self, origin: &EventOrigin<'_>, event: &Event, raw: Option<&[u8]>) {
        let body = RecordBody {
            id: EventId::mint(),
            time: Timestamp::now(),
            session_id: origin.session,
            agent: origin.agent,
            agent_session_id: origin.agent_session_id,
            event,
            synthetic: origin.is_synthetic,
        };
        self.frames.push(frame::encode(&body, raw, &mut self.scratch));
        self.scratch.clear();
        self.scratch.shrink_to(SCRATCH_BYTES_MAX);
    }

    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Removes and returns the frames, after those of `earlier`.
    pub(crate) fn take_after(&mut self, earlier: &FrameBuffer) -> FrameBuffer {
        let earlier = (0..earlier.len()).map(|at| earlier.frame(at));
        earlier.chain(self.frames.drain(..)).collect()
    }
}
