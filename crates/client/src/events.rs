//! What an instance says, as it says it.

use std::time::Duration;

use protocol::ServerId;
use sse::SseFrame;

use crate::{Client, error::Result, follow::Follow};

/// One event of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What it is.
    pub kind: EventKind,
    /// What it says: the JSON as it came.
    pub data: String,
}

/// What an event is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// A message of the agent.
    Message {
        /// Its place in the stream.
        id: u64,
    },
    /// Events between the last one and the next are no longer kept.
    Gap,
    /// The agent wrote a line that is no message.
    Unparsed,
    /// The agent's process ended.
    Exited,
    /// Something that a newer daemon says.
    Other(String),
}

impl EventKind {
    /// Its name on the wire.
    pub fn name(&self) -> &str {
        match self {
            EventKind::Message { .. } => "message",
            EventKind::Gap => "gap",
            EventKind::Unparsed => "unparsed",
            EventKind::Exited => "exited",
            EventKind::Other(name) => name,
        }
    }
}

/// The events of one instance. A cut connection is made anew by itself, a bounded number of times.
///
/// Every message comes once. The other events have no id to resume after: one that came just before a cut may
/// come again.
#[derive(Debug)]
pub struct Events(Follow);

impl Events {
    pub(crate) async fn open(client: Client, id: ServerId, after: Option<u64>) -> Result<Self> {
        let last = after.map(|id| id.to_string());
        Follow::open(client, &["v1", "acp", id.as_str()], Vec::new(), last).await.map(Self)
    }

    /// Keeps trying to make a cut connection anew for this long after the daemon was last heard of.
    #[must_use]
    pub fn patient(self, patience: Duration) -> Self {
        Self(self.0.patient(patience))
    }

    /// The next event; `None` once the agent has ended or the instance is gone.
    ///
    /// Nothing is lost if the future is dropped before it is done.
    pub async fn next(&mut self) -> Result<Option<Event>> {
        let Some(frame) = self.0.next().await? else { return Ok(None) };
        let event = event(frame);
        if event.kind == EventKind::Exited {
            self.0.last_words();
        }
        Ok(Some(event))
    }
}

fn event(frame: SseFrame) -> Event {
    let id = frame.id.and_then(|id| id.parse().ok());
    let kind = match (frame.event.as_str(), id) {
        ("" | "message", Some(id)) => EventKind::Message { id },
        ("gap", _) => EventKind::Gap,
        ("unparsed", _) => EventKind::Unparsed,
        ("exited", _) => EventKind::Exited,
        _ => EventKind::Other(frame.event),
    };
    Event { kind, data: frame.data }
}
