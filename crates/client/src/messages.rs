//! What a server tells on one connection, where each event says by itself what it is.

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
    follow::SILENCE_MAX,
    told,
};

/// What a server tells in an answer that has begun; it ends with the connection.
pub struct Messages<B, T> {
    body: BodyDataStream<B>,
    parser: SseParser,
    meaning: PhantomData<fn() -> T>,
}

impl<B, T> Messages<B, T>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn error::Error + Send + Sync>>,
    T: DeserializeOwned,
{
    /// What comes as the body of an answer.
    pub fn over(body: B) -> Self {
        Self { body: BodyDataStream::new(body), parser: SseParser::default(), meaning: PhantomData }
    }

    /// The next event; `None` once the answer is over.
    ///
    /// Nothing is lost if the future is dropped before it is done.
    pub async fn next(&mut self) -> Result<Option<T>> {
        loop {
            if let Some(frame) = self.parser.pop() {
                let frame =
                    frame.map_err(|error| Error::unexpected(StatusCode::OK, error.to_string(), b""))?;
                return told::read(&frame).map(Some);
            }
            let piece = timeout(SILENCE_MAX, self.body.next()).await.map_err(Error::transport)?;
            let Some(piece) = piece.transpose().map_err(Error::transport)? else { return Ok(None) };
            self.parser.push(&piece);
        }
    }
}
