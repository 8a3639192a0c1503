//! Reads server-sent events off a response.

use reqwest::Response;

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
    buffer: Vec<u8>,
    read: usize,
}

impl Events {
    /// Reads the body of `response`.
    ///
    /// # Panics
    /// If it is not a stream of events.
    pub fn new(response: Response) -> Self {
        assert_eq!(response.status(), 200, "{response:?}");
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, buffer: Vec::new(), read: 0 }
    }

    /// The next event; `None` at the end of the stream. Comments are passed over.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.take() {
                return Some(event);
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) => {
                    self.buffer.drain(..self.read);
                    self.read = 0;
                    self.buffer.extend_from_slice(&chunk);
                }
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

    fn take(&mut self) -> Option<Event> {
        loop {
            let unread = &self.buffer[self.read..];
            let end = unread.windows(2).position(|pair| pair == b"\n\n")?;
            let text = String::from_utf8(unread[..end].to_vec()).expect("a stream is UTF-8");
            self.read += end + 2;
            if let Some(event) = parse(&text) {
                return Some(event);
            }
        }
    }
}

/// Strict on purpose: our frames have one line per field and nothing else.
fn parse(text: &str) -> Option<Event> {
    let (mut event, mut id, mut data) = (None, None, None);
    for line in text.split('\n') {
        match line.split_once(": ") {
            Some(("event", value)) => event = Some(value.to_owned()),
            Some(("id", value)) => id = Some(value.parse().expect("an id is a number")),
            Some(("data", value)) => {
                assert!(data.replace(value.to_owned()).is_none(), "one line of data: {text}")
            }
            _ if line.starts_with(':') => {}
            _ => panic!("not a line of an event: {line:?}"),
        }
    }
    // One that only has data is a message, as the standard says.
    let event = event.or_else(|| data.is_some().then(|| "message".to_owned()))?;
    Some(Event { event, id, data: data.unwrap_or_default() })
}
