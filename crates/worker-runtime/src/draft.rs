//! What has happened and is not written down yet.

use bytes::Bytes;
use jiff::Timestamp;
use journal::FrameBuffer;
use protocol::{AgentName, Event, EventId, SessionId};

use crate::frame::{self, Body};

/// How much of that memory is kept for the next frame.
const SCRATCH_BYTES_MAX: usize = 4 << 10;

/// The events that the next commit writes, as frames.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    frames: Vec<Bytes>,
    /// Memory to put a frame together in.
    scratch: Vec<u8>,
}

/// Who an event is of.
pub(crate) struct Of<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) agent: &'a AgentName,
    pub(crate) agent_session_id: Option<&'a str>,
}

impl Draft {
    pub(crate) fn push(
        &mut self,
        of: &Of<'_>,
        event: &Event,
        time: Timestamp,
        synthetic: bool,
        raw: Option<&[u8]>,
    ) {
        let body = Body {
            id: EventId::mint(),
            time,
            session_id: of.session,
            agent: of.agent,
            agent_session_id: of.agent_session_id,
            event,
            synthetic,
        };
        self.frames.push(frame::encode(&body, raw, &mut self.scratch));
        self.scratch.clear();
        self.scratch.shrink_to(SCRATCH_BYTES_MAX);
    }

    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn take(&mut self) -> FrameBuffer {
        self.frames.drain(..).collect()
    }
}
