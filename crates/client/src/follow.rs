//! A stream that is followed across cut connections.

use std::time::{Duration, Instant};

use backoff::Backoff;
use protocol::ProblemKind;
use reqwest::{Method, RequestBuilder, Response, StatusCode, header::CONTENT_TYPE};
use sse::{SseFrame, SseParser};

use crate::{
    Client,
    client::accepted,
    error::{Error, Result},
};

/// How often a lost connection is made anew without having brought anything, before that is an error; more often if
/// whoever follows is patient.
const TRIES_MAX: u32 = 5;

/// The shortest and the longest delay before a new connection.
const RECONNECT_MIN: Duration = Duration::from_millis(200);
const RECONNECT_MAX: Duration = Duration::from_millis(3200);

/// A daemon says something every 15 s. One that is silent for three times as long is gone.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(45);

/// A connection that lasted this long was worth having, even if nothing was said on it.
const LASTING: Duration = Duration::from_secs(10);

/// How the last connection ended.
#[derive(Debug)]
enum Cut {
    /// The server ended it in order.
    Ended,
    Lost(Error),
}

/// The frames of one stream. After a cut it goes on after the last id that was read.
#[derive(Debug)]
pub(crate) struct Follow {
    client: Client,
    segments: Vec<String>,
    query: Vec<(&'static str, String)>,
    last_id: Option<String>,
    response: Option<Response>,
    connected_at: Instant,
    /// When the server was last heard of.
    heard_at: Instant,
    /// How long it is tried to reach a server that is not heard of, at least.
    patience: Duration,
    parser: SseParser,
    /// New connections since the last frame, or since one that lasted.
    tries: u32,
    backoff: Backoff,
    /// The last frame said that nothing comes after it.
    over: bool,
}

impl Follow {
    /// Opens the stream at the route with these segments, after the event `last_id`.
    pub(crate) async fn open(
        client: Client,
        segments: &[&str],
        query: Vec<(&'static str, String)>,
        last_id: Option<String>,
    ) -> Result<Self> {
        let mut follow = Self {
            client,
            segments: segments.iter().map(|&segment| segment.to_owned()).collect(),
            query,
            last_id,
            response: None,
            connected_at: Instant::now(),
            heard_at: Instant::now(),
            patience: Duration::ZERO,
            parser: SseParser::default(),
            tries: 0,
            backoff: Backoff::new(RECONNECT_MIN, RECONNECT_MAX),
            over: false,
        };
        follow.response = Some(follow.connect().await?);
        Ok(follow)
    }

    /// The next frame; `None` once the stream has ended. Nothing is lost if the future is dropped.
    pub(crate) async fn next(&mut self) -> Result<Option<SseFrame>> {
        loop {
            if let Some(frame) = self.parser.pop() {
                let frame =
                    frame.map_err(|error| Error::unexpected(StatusCode::OK, error.to_string(), b""))?;
                self.forget_failures();
                self.over = false;
                if let Some(id) = &frame.id {
                    self.last_id = Some(id.clone());
                }
                return Ok(Some(frame));
            }
            let Some(response) = &mut self.response else {
                if self.over {
                    return Ok(None);
                }
                match self.reconnect().await? {
                    Some(response) => {
                        self.connected_at = Instant::now();
                        self.heard_at = self.connected_at;
                        self.response = Some(response);
                    }
                    None => self.over = true,
                }
                continue;
            };
            let cut = match tokio::time::timeout(SILENCE_MAX, response.chunk()).await {
                Ok(Ok(Some(piece))) => {
                    self.heard_at = Instant::now();
                    self.parser.push(&piece);
                    continue;
                }
                Ok(Ok(None)) => Cut::Ended,
                Ok(Err(error)) => Cut::Lost(error.into()),
                Err(_) => Cut::Lost(Error::transport("the server fell silent")),
            };
            self.on_cut(cut)?;
        }
    }

    /// Keeps trying for this long after the server was last heard of.
    pub(crate) fn patient(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Says that the frame that was read last has nothing after it, should the connection end now.
    pub(crate) fn last_words(&mut self) {
        self.over = true;
    }

    fn on_cut(&mut self, cut: Cut) -> Result<()> {
        self.response = None;
        if self.connected_at.elapsed() >= LASTING {
            self.forget_failures();
        }
        // What was not whole comes again.
        self.parser = SseParser::default();
        match cut {
            Cut::Ended if self.gives_up() => self.over = true,
            Cut::Lost(error) if self.gives_up() => return Err(error),
            _ => {}
        }
        Ok(())
    }

    /// Something arrived, so the next failure starts with a full set of attempts and the shortest delay.
    fn forget_failures(&mut self) {
        self.tries = 0;
        self.backoff.reset();
    }

    fn gives_up(&self) -> bool {
        self.tries >= TRIES_MAX && self.heard_at.elapsed() >= self.patience
    }

    /// A new connection; `None` if there is nothing left to follow.
    async fn reconnect(&mut self) -> Result<Option<Response>> {
        loop {
            self.tries = self.tries.saturating_add(1);
            self.backoff.wait().await;
            match self.connect().await {
                Ok(response) => return Ok(Some(response)),
                Err(error) => match error.kind() {
                    Some(
                        ProblemKind::InstanceNotFound
                        | ProblemKind::ProcessNotFound
                        | ProblemKind::SessionNotFound,
                    ) => {
                        return Ok(None);
                    }
                    None
                    | Some(
                        ProblemKind::ShuttingDown
                        | ProblemKind::StoreLocked
                        | ProblemKind::TooManyConnections,
                    ) if !self.gives_up() => {}
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
        let response = match tokio::time::timeout(SILENCE_MAX, accepted(request)).await {
            Ok(response) => response?,
            Err(_) => return Err(Error::transport("the server did not answer")),
        };
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !content_type.is_some_and(|value| value.starts_with("text/event-stream")) {
            return Err(Error::unexpected(response.status(), "it is not a stream of events", b""));
        }
        Ok(response)
    }
}

#[cfg(test)]
mod tests;
