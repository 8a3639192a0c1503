//! An event stream that reconnects and resumes after a lost connection.

use std::time::{Duration, Instant};

use backoff::Backoff;
use protocol::ProblemKind;
use reqwest::{Method, RequestBuilder, Response, StatusCode, header::CONTENT_TYPE};
use sse::{SseFrame, SseParser};

use crate::{
    Client,
    client::send_checked,
    error::{Error, Result},
};

/// How many connections in a row may bring no event before the stream fails. It keeps trying for longer if the caller set
/// [`ResumingStream::reconnect_for`].
const ATTEMPTS_MAX: u32 = 5;

/// The shortest and the longest delay before a new connection.
const RECONNECT_MIN: Duration = Duration::from_millis(200);
const RECONNECT_MAX: Duration = Duration::from_millis(3200);

/// How long a server may be silent. It sends a heartbeat every 15 s, so after three missed ones it is considered lost.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(45);

/// A connection that lasted this long counts as a success, even without an event.
const STABLE_AFTER: Duration = Duration::from_secs(10);

/// How the last connection ended.
#[derive(Debug)]
enum ConnectionEnd {
    /// The server closed it properly.
    Ended,
    Lost(Error),
}

/// An item of a stream.
#[derive(Debug)]
pub(crate) enum StreamItem {
    Frame(SseFrame),
    /// The connection was lost, and a first attempt to connect again has failed. Sent once for each outage.
    Lost,
    /// The stream continues after an outage.
    Restored,
}

/// How an attempt to connect again ended.
#[derive(Debug)]
enum Reconnection {
    Connected(Response),
    /// The resource no longer exists.
    Gone,
    /// The first attempt failed. The next call makes further ones.
    FirstFailed,
}

/// The frames of one stream. After a lost connection, it resumes after the last received id.
#[derive(Debug)]
pub(crate) struct ResumingStream {
    client: Client,
    segments: Vec<String>,
    query: Vec<(&'static str, String)>,
    last_id: Option<String>,
    response: Option<Response>,
    connected_at: Instant,
    /// The time of the last data from the server.
    received_at: Instant,
    /// How long to keep reconnecting after the last data, at least.
    reconnect_time: Duration,
    parser: SseParser,
    /// New connections since the last frame, or since the last stable connection.
    attempts: u32,
    backoff: Backoff,
    /// Whether the last frame announced the end of the stream.
    ended: bool,
    /// Whether an attempt to connect again has failed since the last connection.
    is_lost: bool,
}

impl ResumingStream {
    /// Opens the stream at the route with these segments, after the event `last_id`.
    pub(crate) async fn open(
        client: Client,
        segments: &[&str],
        query: Vec<(&'static str, String)>,
        last_id: Option<String>,
    ) -> Result<Self> {
        let mut stream = Self {
            client,
            segments: segments.iter().map(|&segment| segment.to_owned()).collect(),
            query,
            last_id,
            response: None,
            connected_at: Instant::now(),
            received_at: Instant::now(),
            reconnect_time: Duration::ZERO,
            parser: SseParser::default(),
            attempts: 0,
            backoff: Backoff::new(RECONNECT_MIN, RECONNECT_MAX),
            ended: false,
            is_lost: false,
        };
        stream.response = Some(stream.connect().await?);
        Ok(stream)
    }

    /// The next frame; `None` once the stream has ended. Cancel safe.
    pub(crate) async fn next(&mut self) -> Result<Option<SseFrame>> {
        loop {
            match self.next_item().await? {
                Some(StreamItem::Frame(frame)) => return Ok(Some(frame)),
                Some(StreamItem::Lost | StreamItem::Restored) => {}
                None => return Ok(None),
            }
        }
    }

    /// The next frame, or a notice of an outage; `None` once the stream has ended. Cancel safe.
    pub(crate) async fn next_item(&mut self) -> Result<Option<StreamItem>> {
        loop {
            if let Some(frame) = self.parser.pop() {
                let frame =
                    frame.map_err(|error| Error::unexpected(StatusCode::OK, error.to_string(), b""))?;
                self.forget_failures();
                self.ended = false;
                if let Some(id) = &frame.id {
                    self.last_id = Some(id.clone());
                }
                return Ok(Some(StreamItem::Frame(frame)));
            }
            let Some(response) = &mut self.response else {
                if self.ended {
                    return Ok(None);
                }
                match self.reconnect().await? {
                    Reconnection::Connected(response) => {
                        self.connected_at = Instant::now();
                        self.received_at = self.connected_at;
                        self.response = Some(response);
                        if std::mem::take(&mut self.is_lost) {
                            return Ok(Some(StreamItem::Restored));
                        }
                    }
                    Reconnection::Gone => self.ended = true,
                    Reconnection::FirstFailed => return Ok(Some(StreamItem::Lost)),
                }
                continue;
            };
            let end = match tokio::time::timeout(SILENCE_MAX, response.chunk()).await {
                Ok(Ok(Some(chunk))) => {
                    self.received_at = Instant::now();
                    self.parser.push(&chunk);
                    continue;
                }
                Ok(Ok(None)) => ConnectionEnd::Ended,
                Ok(Err(error)) => ConnectionEnd::Lost(error.into()),
                Err(_) => ConnectionEnd::Lost(Error::transport("the server sent no data and no heartbeat")),
            };
            self.on_connection_end(end)?;
        }
    }

    /// Keeps reconnecting for this long after the last data from the server.
    pub(crate) fn reconnect_for(mut self, time: Duration) -> Self {
        self.reconnect_time = time;
        self
    }

    /// Declares the last frame the final one: if the connection ends now, the stream has ended and does not reconnect.
    pub(crate) fn expect_end(&mut self) {
        self.ended = true;
    }

    fn on_connection_end(&mut self, end: ConnectionEnd) -> Result<()> {
        self.response = None;
        if self.connected_at.elapsed() >= STABLE_AFTER {
            self.forget_failures();
        }
        // The server sends an incomplete frame again.
        self.parser = SseParser::default();
        match end {
            ConnectionEnd::Ended if self.should_give_up() => self.ended = true,
            ConnectionEnd::Lost(error) if self.should_give_up() => return Err(error),
            _ => {}
        }
        Ok(())
    }

    /// Something arrived, so the next failure starts with a full set of attempts and the shortest delay.
    fn forget_failures(&mut self) {
        self.attempts = 0;
        self.backoff.reset();
    }

    fn should_give_up(&self) -> bool {
        self.attempts >= ATTEMPTS_MAX && self.received_at.elapsed() >= self.reconnect_time
    }

    /// Opens a new connection.
    async fn reconnect(&mut self) -> Result<Reconnection> {
        loop {
            self.attempts = self.attempts.saturating_add(1);
            self.backoff.wait().await;
            match self.connect().await {
                Ok(response) => return Ok(Reconnection::Connected(response)),
                Err(error) => match error.kind() {
                    Some(
                        ProblemKind::InstanceNotFound
                        | ProblemKind::ProcessNotFound
                        | ProblemKind::SessionNotFound,
                    ) => {
                        return Ok(Reconnection::Gone);
                    }
                    None
                    | Some(
                        ProblemKind::ShuttingDown
                        | ProblemKind::StoreLocked
                        | ProblemKind::TooManyConnections,
                    ) if !self.should_give_up() => {
                        if !std::mem::replace(&mut self.is_lost, true) {
                            return Ok(Reconnection::FirstFailed);
                        }
                    }
                    _ => return Err(error),
                },
            }
        }
    }

    async fn connect(&self) -> Result<Response> {
        let segments: Vec<&str> = self.segments.iter().map(String::as_str).collect();
        let mut request: RequestBuilder = self.client.request(Method::GET, &segments).query(&self.query);
        if let Some(id) = &self.last_id {
            request = request.header("last-event-id", id);
        }
        let request = request.header("accept", "text/event-stream");
        let response = match tokio::time::timeout(SILENCE_MAX, send_checked(request)).await {
            Ok(response) => response?,
            Err(_) => return Err(Error::transport("the server did not respond")),
        };
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !content_type.is_some_and(|value| value.starts_with("text/event-stream")) {
            return Err(Error::unexpected(response.status(), "it is not an event stream", b""));
        }
        Ok(response)
    }
}

#[cfg(test)]
mod tests;
