//! What a server tells as it happens, where each event says by itself what it is.

use std::marker::PhantomData;

use reqwest::StatusCode;
use serde::de::DeserializeOwned;
use sse::SseFrame;

use crate::{Client, Error, error::Result, follow::Follow};

/// What a server tells. A cut connection is made anew by itself, a bounded number of times; the server then begins with
/// what there is.
#[derive(Debug)]
pub struct Told<T> {
    follow: Follow,
    meaning: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Told<T> {
    pub(crate) async fn open(client: Client, segments: &[&str]) -> Result<Self> {
        let follow = Follow::open(client, segments, Vec::new(), None).await?;
        Ok(Self { follow, meaning: PhantomData })
    }

    /// The next event, as it is understood and as it came; `None` once the server ended the stream.
    ///
    /// Nothing is lost if the future is dropped before it is done.
    pub async fn next(&mut self) -> Result<Option<(T, String)>> {
        let Some(frame) = self.follow.next().await? else { return Ok(None) };
        Ok(Some((read(&frame)?, frame.data)))
    }
}

/// What an event says.
pub(crate) fn read<T: DeserializeOwned>(frame: &SseFrame) -> Result<T> {
    serde_json::from_str(&frame.data).map_err(|error| {
        Error::unexpected(StatusCode::OK, format!("an event cannot be read: {error}"), frame.data.as_bytes())
    })
}
