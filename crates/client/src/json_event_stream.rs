//! An event stream whose events are all of one JSON type.

use std::marker::PhantomData;

use reqwest::StatusCode;
use serde::de::DeserializeOwned;
use sse::SseFrame;

use crate::{Client, Error, error::Result, resuming_stream::ResumingStream};

/// A stream of events of type `T`. It reconnects after a lost connection, a limited number of times; the server then starts
/// with a new snapshot.
#[derive(Debug)]
pub struct JsonEventStream<T> {
    stream: ResumingStream,
    event_type: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> JsonEventStream<T> {
    pub(crate) async fn open(client: Client, segments: &[&str]) -> Result<Self> {
        let stream = ResumingStream::open(client, segments, Vec::new(), None).await?;
        Ok(Self { stream, event_type: PhantomData })
    }

    /// The next event, parsed and as the original JSON; `None` once the server ended the stream. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<(T, String)>> {
        let Some(frame) = self.stream.next().await? else { return Ok(None) };
        Ok(Some((parse_data(&frame)?, frame.data)))
    }
}

/// Parses the data of an event.
pub(crate) fn parse_data<T: DeserializeOwned>(frame: &SseFrame) -> Result<T> {
    serde_json::from_str(&frame.data).map_err(|error| {
        Error::unexpected(StatusCode::OK, format!("an event is invalid: {error}"), frame.data.as_bytes())
    })
}
