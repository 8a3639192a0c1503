//! Reads a file in pieces, several at once.

use std::borrow::Cow;

use base64::{Engine, prelude::BASE64_STANDARD};
use futures_util::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream, FuturesOrdered},
};
use protocol::relay::{
    RawJson, RelayError, RelayErrorCode,
    file::{ReadEncoding, ReadFile},
    method::FileRead,
};
use serde::Deserialize;

use super::{At, Error, Span};
use crate::Environment;

/// The size of one request. As base64 it is a quarter of the largest message, and our devices return as much at once.
const PIECE_BYTES_MAX: u64 = 192 << 10;

/// The number of concurrent requests: enough that the device reads one piece while others are in transit.
const PIECES_MAX: usize = 4;

/// Reads a file in pieces.
pub(super) fn stream(
    environment: &Environment,
    at: Result<At, Error>,
    span: Span,
) -> BoxStream<'static, Result<Vec<u8>, Error>> {
    let at = match at {
        Ok(at) => at,
        Err(error) => return stream::iter([Err(error)]).boxed(),
    };
    let pieces = Pieces {
        environment: environment.clone(),
        at,
        encoding: if environment.takes_bytes() { ReadEncoding::Binary } else { ReadEncoding::Base64 },
        first: span.offset,
        next: span.offset,
        end: span.length.map_or(u64::MAX, |length| span.offset.saturating_add(length)),
        size: None,
        travelling: FuturesOrdered::new(),
        over: false,
    };
    stream::unfold(pieces, |mut pieces| async move { Some((pieces.next().await?, pieces)) }).fuse().boxed()
}

/// The text in these bytes, without characters that the span cuts; `None` if they are not text.
pub(super) fn text(mut bytes: Vec<u8>, span: Span) -> Option<String> {
    let is_inner = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    if span.offset > 0 {
        let cut = bytes.iter().take(3).take_while(|byte| is_inner(byte)).count();
        bytes.drain(..cut);
    }
    if span.length.is_some()
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8(bytes).ok()
}

/// The remaining pieces of a file.
struct Pieces {
    environment: Environment,
    at: At,
    /// The encoding that is requested.
    encoding: ReadEncoding,
    /// The offset of the first piece.
    first: u64,
    /// The offset of the next request.
    next: u64,
    /// The offset of the end.
    end: u64,
    /// The size of the file, once known.
    size: Option<u64>,
    travelling: FuturesOrdered<BoxFuture<'static, Result<Piece, RelayError>>>,
    over: bool,
}

struct Piece {
    bytes: Vec<u8>,
    size: Option<u64>,
    is_last: bool,
}

impl Pieces {
    async fn next(&mut self) -> Option<Result<Vec<u8>, Error>> {
        if self.over {
            return None;
        }
        // Request several pieces only within the known size, so that a small file takes one request.
        while self.travelling.len() < PIECES_MAX && self.next < self.end.min(self.size.unwrap_or(0)) {
            self.send();
        }
        if self.travelling.is_empty() {
            self.send();
        }
        let mut piece = self.travelling.next().await?;
        if self.was_first() && matches!(&piece, Err(error) if error.code == RelayErrorCode::InvalidRequest) {
            // The device may not support binary reads.
            self.encoding = ReadEncoding::Base64;
            self.next = self.first;
            self.send();
            piece = self.travelling.next().await?;
        }
        match piece {
            Ok(Piece { bytes, size, is_last }) => {
                self.size = size.max(self.size);
                self.over = is_last || (self.next >= self.end && self.travelling.is_empty());
                // Drop the requests beyond the end.
                if self.over {
                    self.travelling = FuturesOrdered::new();
                }
                (!bytes.is_empty() || !self.over).then_some(Ok(bytes))
            }
            Err(error) => {
                self.over = true;
                Some(Err(self.at.error(error)))
            }
        }
    }

    /// Whether a result is that of the first request for a binary message.
    fn was_first(&self) -> bool {
        self.encoding == ReadEncoding::Binary && self.size.is_none() && self.travelling.is_empty()
    }

    fn send(&mut self) {
        let length = PIECE_BYTES_MAX.min(self.end - self.next);
        let part = Part { offset: self.next, length, encoding: self.encoding };
        let piece = read(self.environment.clone(), self.at.clone(), part);
        self.next += length;
        self.travelling.push_back(piece.boxed());
    }
}

/// The part of a file to read, and its encoding.
#[derive(Clone, Copy)]
struct Part {
    offset: u64,
    length: u64,
    encoding: ReadEncoding,
}

/// Reads the requested bytes, in several requests if the device returns fewer.
async fn read(environment: Environment, at: At, part: Part) -> Result<Piece, RelayError> {
    let mut piece = read_once(&environment, &at, part).await?;
    while !piece.is_last && (piece.bytes.len() as u64) < part.length {
        let had = piece.bytes.len() as u64;
        let rest = Part { offset: part.offset + had, length: part.length - had, ..part };
        let more = read_once(&environment, &at, rest).await?;
        piece.bytes.extend_from_slice(&more.bytes);
        piece.size = more.size.max(piece.size);
        piece.is_last = more.is_last || more.bytes.is_empty();
    }
    Ok(piece)
}

async fn read_once(environment: &Environment, at: &At, part: Part) -> Result<Piece, RelayError> {
    let params = ReadFile {
        root_id: at.root_id(),
        path: at.path.clone(),
        encoding: part.encoding,
        offset: Some(part.offset),
        length: Some(part.length),
    };
    let result = environment.start::<FileRead>(&params, None).await.outcome().await?;
    let content = Content::read(&result)?;
    let bytes = match content.encoding {
        ReadEncoding::Binary => result.bytes().to_vec(),
        ReadEncoding::Utf8 => content.content.into_owned().into_bytes(),
        ReadEncoding::Base64 => {
            let wrong = |_| RelayError::new(RelayErrorCode::ProviderError, "the device sent invalid base64");
            BASE64_STANDARD.decode(content.content.as_bytes()).map_err(wrong)?
        }
    };
    if bytes.len() as u64 > part.length {
        return Err(RelayError::new(
            RelayErrorCode::ProviderError,
            "the device sent more bytes than requested",
        ));
    }
    // For a device that does not report the end, an empty piece is the end.
    let is_last = content.eof.unwrap_or(bytes.is_empty());
    Ok(Piece { bytes, size: content.size_bytes, is_last })
}

/// [`protocol::relay::file::FileContent`], without a copy of its text.
#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    content: Cow<'a, str>,
    #[serde(default)]
    encoding: ReadEncoding,
    size_bytes: Option<u64>,
    eof: Option<bool>,
}

impl<'a> Content<'a> {
    fn read(result: &'a RawJson) -> Result<Self, RelayError> {
        let wrong =
            |_| RelayError::new(RelayErrorCode::ProviderError, "the device sent an unexpected result");
        serde_json::from_str(result.as_str()).map_err(wrong)
    }
}
