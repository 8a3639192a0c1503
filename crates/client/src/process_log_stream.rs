//! The output stream of a process.

use protocol::{ProcessId, processes::ProcessLogEntry};
use sse::SseFrame;

use crate::{Client, Error, error::Result, resuming_stream::ResumingStream};

/// One event on the output stream of a process.
#[derive(Debug, Clone, PartialEq)]
pub struct LogEvent {
    /// The kind of event.
    pub kind: LogEventKind,
    /// The data, as the original JSON.
    pub data: String,
}

/// The kind of an event on the output stream of a process.
#[derive(Debug, Clone, PartialEq)]
pub enum LogEventKind {
    /// Output of the process.
    Output(ProcessLogEntry),
    /// The next output is no longer retained.
    Gap,
    /// The process exited.
    Exited,
    /// An event that only a newer daemon has.
    Other(String),
}

impl LogEventKind {
    /// The name on the wire.
    pub fn name(&self) -> &str {
        match self {
            LogEventKind::Output(_) => "output",
            LogEventKind::Gap => "gap",
            LogEventKind::Exited => "exited",
            LogEventKind::Other(name) => name,
        }
    }
}

/// The output of one process. It reconnects after a lost connection, a limited number of times, without losing or repeating
/// output.
#[derive(Debug)]
pub struct ProcessLogStream(ResumingStream);

impl ProcessLogStream {
    pub(crate) async fn open(client: Client, id: ProcessId, after: Option<u64>) -> Result<Self> {
        let last = after.map(|number| number.to_string());
        let segments = ["v1", "processes", &id.to_string(), "logs"];
        ResumingStream::open(client, &segments, vec![("follow", "true".into())], last).await.map(Self)
    }

    /// The next event; `None` once the process has exited or was deleted. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<LogEvent>> {
        let Some(frame) = self.0.next().await? else { return Ok(None) };
        let event = parse_event(frame)?;
        if event.kind == LogEventKind::Exited {
            self.0.expect_end();
        }
        Ok(Some(event))
    }
}

fn parse_event(frame: SseFrame) -> Result<LogEvent> {
    let kind = match frame.event.as_str() {
        "output" => {
            LogEventKind::Output(serde_json::from_str(&frame.data).map_err(|error| Error::Unexpected {
                status: 200,
                reason: format!("an event is invalid: {error}"),
                excerpt: frame.data.chars().take(100).collect(),
            })?)
        }
        "gap" => LogEventKind::Gap,
        "exited" => LogEventKind::Exited,
        _ => LogEventKind::Other(frame.event),
    };
    Ok(LogEvent { kind, data: frame.data })
}
