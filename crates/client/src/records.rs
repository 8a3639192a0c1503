//! What happens in a session, as it happens.

use std::time::Duration;

use protocol::{EventRecord, SessionId};
use sse::SseFrame;

use crate::{Client, Error, error::Result, follow::Follow};

/// Something on the stream of a session.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordEvent {
    /// Something happened.
    Record(Box<EventRecord>, String),
    /// Events between the last one and the next are no longer kept.
    Gap(String),
    /// Something that a newer daemon says: its name and its data.
    Other(String, String),
}

/// The events of one session. A cut connection is made anew by itself, a bounded number of times; no event is lost or
/// doubled by that.
#[derive(Debug)]
pub struct Records(Follow);

impl Records {
    pub(crate) async fn open(client: Client, id: &SessionId, offset: u64, include_raw: bool) -> Result<Self> {
        let query = if include_raw { vec![("includeRaw", "true".into())] } else { Vec::new() };
        let segments = ["v1", "sessions", id.as_str(), "events", "sse"];
        Follow::open(client, &segments, query, Some(offset.to_string())).await.map(Self)
    }

    /// Keeps trying to make a cut connection anew for this long after the daemon was last heard of.
    #[must_use]
    pub fn patient(self, patience: Duration) -> Self {
        Self(self.0.patient(patience))
    }

    /// The next event; `None` once the session is gone.
    ///
    /// Nothing is lost if the future is dropped before it is done.
    pub async fn next(&mut self) -> Result<Option<RecordEvent>> {
        let Some(frame) = self.0.next().await? else { return Ok(None) };
        let event = event(frame)?;
        if let RecordEvent::Record(record, _) = &event
            && matches!(record.event, protocol::Event::Ended(_))
        {
            self.0.last_words();
        }
        Ok(Some(event))
    }
}

fn event(frame: SseFrame) -> Result<RecordEvent> {
    match frame.event.as_str() {
        "" | "message" => {
            let record = serde_json::from_str(&frame.data).map_err(|error| Error::Unexpected {
                status: 200,
                reason: format!("an event cannot be read: {error}"),
                excerpt: frame.data.chars().take(100).collect(),
            })?;
            Ok(RecordEvent::Record(record, frame.data))
        }
        "gap" => Ok(RecordEvent::Gap(frame.data)),
        _ => Ok(RecordEvent::Other(frame.event, frame.data)),
    }
}
