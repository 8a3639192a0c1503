//! The event stream of a session.

use std::time::Duration;

use protocol::{EventRecord, SessionId};
use sse::SseFrame;

use crate::{
    Client, Error,
    error::Result,
    resuming_stream::{ResumingStream, StreamItem},
};

/// An event on the stream of a session, with its original JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordEvent {
    /// An event of the session.
    Record(Box<EventRecord>, String),
    /// The next events are no longer retained.
    Gap(String),
    /// An event that only a newer daemon has: its name and data.
    Other(String, String),
    /// The connection was lost, and a first attempt to connect again has failed. The stream keeps trying.
    ConnectionLost,
    /// The stream continues after [`ConnectionLost`](Self::ConnectionLost). No event is missing.
    ConnectionRestored,
}

/// The events of one session. It reconnects after a lost connection, a limited number of times, without losing or repeating
/// events.
#[derive(Debug)]
pub struct SessionEvents(ResumingStream);

impl SessionEvents {
    pub(crate) async fn open(client: Client, id: &SessionId, offset: u64, include_raw: bool) -> Result<Self> {
        let query = if include_raw { vec![("includeRaw", "true".into())] } else { Vec::new() };
        let segments = ["v1", "sessions", id.as_str(), "events", "sse"];
        ResumingStream::open(client, &segments, query, Some(offset.to_string())).await.map(Self)
    }

    /// Keeps reconnecting for this long after the last data from the daemon.
    #[must_use]
    pub fn reconnect_for(self, time: Duration) -> Self {
        Self(self.0.reconnect_for(time))
    }

    /// The next event; `None` once the session was deleted. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<RecordEvent>> {
        let event = match self.0.next_item().await? {
            None => return Ok(None),
            Some(StreamItem::Lost) => RecordEvent::ConnectionLost,
            Some(StreamItem::Restored) => RecordEvent::ConnectionRestored,
            Some(StreamItem::Frame(frame)) => parse_event(frame)?,
        };
        if let RecordEvent::Record(record, _) = &event
            && matches!(record.event, protocol::Event::Ended(_))
        {
            self.0.expect_end();
        }
        Ok(Some(event))
    }
}

fn parse_event(frame: SseFrame) -> Result<RecordEvent> {
    match frame.event.as_str() {
        "" | "message" => {
            let record = serde_json::from_str(&frame.data).map_err(|error| Error::Unexpected {
                status: 200,
                reason: format!("an event is invalid: {error}"),
                excerpt: frame.data.chars().take(100).collect(),
            })?;
            Ok(RecordEvent::Record(record, frame.data))
        }
        "gap" => Ok(RecordEvent::Gap(frame.data)),
        _ => Ok(RecordEvent::Other(frame.event, frame.data)),
    }
}
