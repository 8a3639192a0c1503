//! The events in the body of one response.

use std::{error, marker::PhantomData};

use bytes::Bytes;
use futures_util::StreamExt;
use http_body::Body;
use http_body_util::BodyDataStream;
use reqwest::StatusCode;
use serde::de::DeserializeOwned;
use sse::SseParser;
use tokio::time::timeout;

use crate::{
    error::{Error, Result},
    json_event_stream,
    resuming_stream::SILENCE_MAX,
};

/// The events of type `T` in the body of a response. It does not reconnect.
pub struct BodyEventStream<B, T> {
    body: BodyDataStream<B>,
    parser: SseParser,
    event_type: PhantomData<fn() -> T>,
}

impl<B, T> BodyEventStream<B, T>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn error::Error + Send + Sync>>,
    T: DeserializeOwned,
{
    /// Reads the events in `body`.
    pub fn over(body: B) -> Self {
        Self { body: BodyDataStream::new(body), parser: SseParser::default(), event_type: PhantomData }
    }

    /// The next event; `None` at the end of the body. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<T>> {
        loop {
            if let Some(frame) = self.parser.pop() {
                let frame =
                    frame.map_err(|error| Error::unexpected(StatusCode::OK, error.to_string(), b""))?;
                return json_event_stream::parse_data(&frame).map(Some);
            }
            let chunk = timeout(SILENCE_MAX, self.body.next()).await.map_err(Error::transport)?;
            let Some(chunk) = chunk.transpose().map_err(Error::transport)? else { return Ok(None) };
            self.parser.push(&chunk);
        }
    }
}
