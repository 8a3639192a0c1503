//! Reads server-sent events from an HTTP response.

use reqwest::Response;
use sse::{SseFrame, SseParser};

/// One server-sent event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSentEvent {
    /// The event type; `message` if the frame has none.
    pub event: String,
    /// The event id. The daemon and the hub use sequence numbers.
    pub id: Option<u64>,
    /// The payload.
    pub data: String,
}

/// The event stream of one response.
#[derive(Debug)]
pub struct EventStream {
    response: Response,
    parser: SseParser,
}

impl EventStream {
    /// Reads events from the body of `response`.
    ///
    /// # Panics
    /// If the status is not 200 or the content type is not `text/event-stream`.
    pub fn new(response: Response) -> Self {
        assert_eq!(response.status(), 200, "{response:?}");
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, parser: SseParser::default() }
    }

    /// Waits for the next event and skips comments. Returns `None` when the stream ends, be it properly or by a
    /// broken connection: tests kill servers, and for a reader both look like the end.
    pub async fn next(&mut self) -> Option<ServerSentEvent> {
        loop {
            if let Some(frame) = self.parser.pop() {
                return Some(ServerSentEvent::from(frame.expect("an event exceeds the size limit")));
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) => self.parser.push(&chunk),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// Waits for the next event of the type `kind` and skips others.
    ///
    /// # Panics
    /// If the stream ends first.
    pub async fn next_of(&mut self, kind: &str) -> ServerSentEvent {
        loop {
            match self.next().await {
                Some(event) if event.event == kind => return event,
                Some(_) => {}
                None => panic!("the stream ended before an event of type `{kind}`"),
            }
        }
    }

    /// Reads all events up to the end of the stream.
    pub async fn rest(mut self) -> Vec<ServerSentEvent> {
        let mut all = Vec::new();
        while let Some(event) = self.next().await {
            all.push(event);
        }
        all
    }
}

impl From<SseFrame> for ServerSentEvent {
    /// The SSE standard gives a frame without a type the type `message`.
    fn from(frame: SseFrame) -> Self {
        let event = if frame.event.is_empty() { "message".to_owned() } else { frame.event };
        let id = frame.id.map(|id| id.parse().expect("an event id is not a number"));
        Self { event, id, data: frame.data }
    }
}
