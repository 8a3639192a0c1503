//! The event stream of an ACP instance.

use std::time::Duration;

use protocol::ServerId;
use sse::SseFrame;

use crate::{Client, error::Result, resuming_stream::ResumingStream};

/// One event of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcpEvent {
    /// The kind of event.
    pub kind: AcpEventKind,
    /// The data, as the original JSON.
    pub data: String,
}

/// The kind of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcpEventKind {
    /// A message of the agent.
    Message {
        /// The position in the stream.
        id: u64,
    },
    /// The next events are no longer retained.
    Gap,
    /// The agent wrote a line that is not a JSON-RPC message.
    Unparsed,
    /// The agent's process exited.
    Exited,
    /// An event that only a newer daemon has.
    Other(String),
}

impl AcpEventKind {
    /// The name on the wire.
    pub fn name(&self) -> &str {
        match self {
            AcpEventKind::Message { .. } => "message",
            AcpEventKind::Gap => "gap",
            AcpEventKind::Unparsed => "unparsed",
            AcpEventKind::Exited => "exited",
            AcpEventKind::Other(name) => name,
        }
    }
}

/// The events of one instance. It reconnects after a lost connection, a limited number of times.
///
/// Every message is received once. Other events have no id to resume after, so one that was received just before the
/// connection was lost may be received again.
#[derive(Debug)]
pub struct AcpEvents(ResumingStream);

impl AcpEvents {
    pub(crate) async fn open(client: Client, id: ServerId, after: Option<u64>) -> Result<Self> {
        let last = after.map(|id| id.to_string());
        ResumingStream::open(client, &["v1", "acp", id.as_str()], Vec::new(), last).await.map(Self)
    }

    /// Keeps reconnecting for this long after the last data from the daemon.
    #[must_use]
    pub fn reconnect_for(self, time: Duration) -> Self {
        Self(self.0.reconnect_for(time))
    }

    /// The next event; `None` once the agent has exited or the instance is gone. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<AcpEvent>> {
        let Some(frame) = self.0.next().await? else { return Ok(None) };
        let event = parse_event(frame);
        if event.kind == AcpEventKind::Exited {
            self.0.expect_end();
        }
        Ok(Some(event))
    }
}

fn parse_event(frame: SseFrame) -> AcpEvent {
    let id = frame.id.and_then(|id| id.parse().ok());
    let kind = match (frame.event.as_str(), id) {
        ("" | "message", Some(id)) => AcpEventKind::Message { id },
        ("gap", _) => AcpEventKind::Gap,
        ("unparsed", _) => AcpEventKind::Unparsed,
        ("exited", _) => AcpEventKind::Exited,
        _ => AcpEventKind::Other(frame.event),
    };
    AcpEvent { kind, data: frame.data }
}
