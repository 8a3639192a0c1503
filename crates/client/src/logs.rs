//! What a process writes, as it writes it.

use protocol::{ProcessId, processes::ProcessLogEntry};
use sse::SseFrame;

use crate::{Client, Error, error::Result, follow::Follow};

/// One event in the log of a process.
#[derive(Debug, Clone, PartialEq)]
pub struct LogEvent {
    /// What it is.
    pub kind: LogEventKind,
    /// What it says: the JSON as it came.
    pub data: String,
}

/// What an event in the log of a process is.
#[derive(Debug, Clone, PartialEq)]
pub enum LogEventKind {
    /// Something that it wrote.
    Output(ProcessLogEntry),
    /// What was to come next is no longer kept.
    Gap,
    /// It has ended.
    Exited,
    /// Something that a newer daemon says.
    Other(String),
}

impl LogEventKind {
    /// Its name on the wire.
    pub fn name(&self) -> &str {
        match self {
            LogEventKind::Output(_) => "output",
            LogEventKind::Gap => "gap",
            LogEventKind::Exited => "exited",
            LogEventKind::Other(name) => name,
        }
    }
}

/// What one process writes. A cut connection is made anew by itself, a bounded number of times; no output is lost or
/// doubled by that.
#[derive(Debug)]
pub struct Logs(Follow);

impl Logs {
    pub(crate) async fn open(client: Client, id: ProcessId, after: Option<u64>) -> Result<Self> {
        let last = after.map(|number| number.to_string());
        let segments = ["v1", "processes", &id.to_string(), "logs"];
        Follow::open(client, &segments, vec![("follow", "true".into())], last).await.map(Self)
    }

    /// The next event; `None` once the process has ended or is forgotten.
    ///
    /// Nothing is lost if the future is dropped before it is done.
    pub async fn next(&mut self) -> Result<Option<LogEvent>> {
        let Some(frame) = self.0.next().await? else { return Ok(None) };
        let event = event(frame)?;
        if event.kind == LogEventKind::Exited {
            self.0.last_words();
        }
        Ok(Some(event))
    }
}

fn event(frame: SseFrame) -> Result<LogEvent> {
    let kind = match frame.event.as_str() {
        "output" => {
            LogEventKind::Output(serde_json::from_str(&frame.data).map_err(|error| Error::Unexpected {
                status: 200,
                reason: format!("an event cannot be read: {error}"),
                excerpt: frame.data.chars().take(100).collect(),
            })?)
        }
        "gap" => LogEventKind::Gap,
        "exited" => LogEventKind::Exited,
        _ => LogEventKind::Other(frame.event),
    };
    Ok(LogEvent { kind, data: frame.data })
}
