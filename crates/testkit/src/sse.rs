//! Reads server-sent events off a response.

use reqwest::Response;
use sse::{SseFrame, SseParser};

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its type.
    pub event: String,
    /// Its id, if it has one.
    pub id: Option<u64>,
    /// What it says.
    pub data: String,
}

/// The events of one response, in order.
#[derive(Debug)]
pub struct Events {
    response: Response,
    parser: SseParser,
}

impl Events {
    /// Reads the body of `response`.
    ///
    /// # Panics
    /// If it is not a stream of events.
    pub fn new(response: Response) -> Self {
        assert_eq!(response.status(), 200, "{response:?}");
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, parser: SseParser::default() }
    }

    /// The next event; `None` at the end of the stream. Comments are passed over.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(frame) = self.parser.pop() {
                return Some(Event::from(frame.expect("an event is not that large")));
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) => self.parser.push(&chunk),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// The next event of this type; others are passed over.
    ///
    /// # Panics
    /// If the stream ends before it.
    pub async fn next_of(&mut self, kind: &str) -> Event {
        loop {
            match self.next().await {
                Some(event) if event.event == kind => return event,
                Some(_) => {}
                None => panic!("the stream ended without `{kind}`"),
            }
        }
    }

    /// All events up to the end of the stream.
    pub async fn rest(mut self) -> Vec<Event> {
        let mut all = Vec::new();
        while let Some(event) = self.next().await {
            all.push(event);
        }
        all
    }
}

impl From<SseFrame> for Event {
    /// A frame without a type is a message, as the standard says.
    fn from(frame: SseFrame) -> Self {
        let event = if frame.event.is_empty() { "message".to_owned() } else { frame.event };
        let id = frame.id.map(|id| id.parse().expect("an id is a number"));
        Self { event, id, data: frame.data }
    }
}
