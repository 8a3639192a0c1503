//! The stream of a response to a request of the peer.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use protocol::relay::{Encoding, Frame, RawJson, RelayError, RelayErrorCode, StreamFrame};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::{
    driver::Message,
    flow,
    held::{Gauge, Weight},
};

/// Sends the stream of the response to one request.
#[derive(Debug)]
pub struct Reply {
    pub(crate) key: u64,
    pub(crate) id: String,
    pub(crate) seq: u64,
    pub(crate) frame_bytes_max: usize,
    /// The bytes that may still be queued for sending.
    pub(crate) room: Arc<Semaphore>,
    pub(crate) unsent_bytes_max: u32,
    pub(crate) takes_bytes: bool,
    /// The credit for the stream, if the peer supports it.
    pub(crate) credit: Option<Allowance>,
    pub(crate) unsent: Gauge,
    pub(crate) cancelled: CancellationToken,
    pub(crate) connection: CancellationToken,
    pub(crate) door: mpsc::Sender<Message>,
}

/// The credit for one stream.
#[derive(Debug, Clone)]
pub(crate) struct Allowance {
    pub(crate) left: Arc<Semaphore>,
    pub(crate) window: u64,
}

/// Why a chunk was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsent {
    /// The request was cancelled.
    #[error("the request was cancelled")]
    Cancelled,
    /// It is too large for one message.
    #[error("a message of {actual} bytes exceeds the limit of {limit}")]
    TooLarge {
        /// The size of the message.
        actual: usize,
        /// The limit.
        limit: usize,
    },
}

impl From<Unsent> for RelayError {
    fn from(unsent: Unsent) -> Self {
        match &unsent {
            Unsent::Cancelled => Self::new(RelayErrorCode::Cancelled, unsent.to_string()),
            Unsent::TooLarge { actual, limit } => {
                Self::new(RelayErrorCode::ProviderError, unsent.to_string())
                    .with("limit", *limit)
                    .with("actual", *actual)
            }
        }
    }
}

/// A stream message that is queued for sending.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) text: String,
    _room: OwnedSemaphorePermit,
    _weight: Weight,
}

impl Reply {
    /// Sends a chunk, once there is credit for it.
    ///
    /// # Errors
    /// If the request was cancelled or it is too large.
    pub async fn stream(&mut self, event: &str, data: RawJson) -> Result<(), Unsent> {
        self.send(event, data, None).await
    }

    /// Sends bytes: as text if they are UTF-8, otherwise in base64.
    ///
    /// # Errors
    /// As [`stream`](Self::stream).
    pub async fn bytes(&mut self, event: &str, bytes: &[u8]) -> Result<(), Unsent> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.send(event, RawJson::from_value(&text), None).await,
            Err(_) => {
                let text = BASE64_STANDARD.encode(bytes);
                self.send(event, RawJson::from_value(&text), Some(Encoding::Base64)).await
            }
        }
    }

    /// Forwards a chunk of another request's stream unchanged.
    ///
    /// # Errors
    /// As [`stream`](Self::stream).
    pub async fn pass_on(&mut self, frame: StreamFrame) -> Result<(), Unsent> {
        self.send(&frame.event, frame.data, frame.encoding).await
    }

    /// Whether the result may be a binary message.
    pub fn takes_bytes(&self) -> bool {
        self.takes_bytes
    }

    /// Checks that the result can be sent.
    pub(crate) fn need_taken(&self, result: RawJson) -> Result<RawJson, RelayError> {
        match result.bytes().is_empty() || self.takes_bytes {
            true => Ok(result),
            false => Err(bytes_not_taken()),
        }
    }

    /// Returns when the request is cancelled, or the connection is lost.
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    /// A token that is cancelled with the request.
    pub fn token(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// A token that is cancelled when the connection is lost, also after the request has ended.
    pub fn connection(&self) -> &CancellationToken {
        &self.connection
    }

    async fn send(&mut self, event: &str, data: RawJson, encoding: Option<Encoding>) -> Result<(), Unsent> {
        let (id, seq) = (self.id.clone(), Some(self.seq));
        let text = Frame::Stream(StreamFrame { id, event: event.into(), seq, data, encoding }).write();
        if text.len() > self.frame_bytes_max {
            return Err(Unsent::TooLarge { actual: text.len(), limit: self.frame_bytes_max });
        }
        let cancelled = self.cancelled.clone();
        tokio::select! {
            biased;
            () = cancelled.cancelled() => return Err(Unsent::Cancelled),
            sent = self.queue(text) => sent?,
        }
        self.seq += 1;
        Ok(())
    }

    /// Waits for credit, for room in the buffer and for the driver, and then sends. Cancel safe: nothing is sent or charged before.
    async fn queue(&self, text: String) -> Result<(), Unsent> {
        let credit = async {
            let Some(credit) = &self.credit else { return Ok(None) };
            let charge = flow::charge(text.len(), credit.window);
            credit.left.acquire_many(u32::try_from(charge).unwrap_or(u32::MAX)).await.map(Some)
        };
        let size = u32::try_from(text.len()).unwrap_or(u32::MAX).min(self.unsent_bytes_max);
        let (Ok(credit), Ok(room)) = (credit.await, self.room.clone().acquire_many_owned(size).await) else {
            return Err(Unsent::Cancelled);
        };
        let Ok(place) = self.door.reserve().await else { return Err(Unsent::Cancelled) };
        if let Some(credit) = credit {
            credit.forget();
        }
        let weight = self.unsent.add(text.len());
        place.send(Message::Stream { key: self.key, queued: Queued { text, _room: room, _weight: weight } });
        Ok(())
    }
}

/// The error for a request of binary content on a connection without binary messages.
pub fn bytes_not_taken() -> RelayError {
    RelayError::new(
        RelayErrorCode::InvalidRequest,
        "binary messages are not possible on this connection; read the file with `encoding: base64`",
    )
    .with("reason", "not_negotiated")
}
