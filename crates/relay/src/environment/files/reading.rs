//! Reading a file in pieces, some of which are on their way at once.

use std::borrow::Cow;

use base64::{Engine, prelude::BASE64_STANDARD};
use futures_util::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream, FuturesOrdered},
};
use protocol::relay::{Code, Encoding, Json, RelayError, file::ReadFile, method::FileRead};
use serde::Deserialize;

use super::{At, Error, Span};
use crate::Environment;

/// How many bytes are asked for at once: in base64 a third of the largest message.
const PIECE_BYTES_MAX: u64 = 256 << 10;

/// How many pieces are on their way at once: enough that the device reads one while others travel.
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
        next: span.offset,
        end: span.length.map_or(u64::MAX, |length| span.offset.saturating_add(length)),
        size: None,
        travelling: FuturesOrdered::new(),
        over: false,
    };
    stream::unfold(pieces, |mut pieces| async move { Some((pieces.next().await?, pieces)) }).fuse().boxed()
}

/// The text in these bytes, without characters that the span cut; none if they are no text.
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

/// The pieces of a file that are still to come.
struct Pieces {
    environment: Environment,
    at: At,
    /// The first byte that nobody has asked for.
    next: u64,
    /// The first byte that is not wanted.
    end: u64,
    /// How long the file is, once that is known.
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
        // More than one only as far as the file is known to go; a small one takes one request.
        while self.travelling.len() < PIECES_MAX && self.next < self.end.min(self.size.unwrap_or(0)) {
            self.send();
        }
        if self.travelling.is_empty() {
            self.send();
        }
        match self.travelling.next().await? {
            Ok(Piece { bytes, size, is_last }) => {
                self.size = size.max(self.size);
                self.over = is_last || (self.next >= self.end && self.travelling.is_empty());
                // Those that travel beyond the end are not wanted.
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

    fn send(&mut self) {
        let length = PIECE_BYTES_MAX.min(self.end - self.next);
        let piece = read(self.environment.clone(), self.at.clone(), self.next, length);
        self.next += length;
        self.travelling.push_back(piece.boxed());
    }
}

/// Reads so many bytes, in more than one request if the device gives fewer.
async fn read(environment: Environment, at: At, offset: u64, length: u64) -> Result<Piece, RelayError> {
    let mut piece = read_once(&environment, &at, offset, length).await?;
    while !piece.is_last && (piece.bytes.len() as u64) < length {
        let had = piece.bytes.len() as u64;
        let more = read_once(&environment, &at, offset + had, length - had).await?;
        piece.bytes.extend_from_slice(&more.bytes);
        piece.size = more.size.max(piece.size);
        piece.is_last = more.is_last || more.bytes.is_empty();
    }
    Ok(piece)
}

async fn read_once(
    environment: &Environment,
    at: &At,
    offset: u64,
    length: u64,
) -> Result<Piece, RelayError> {
    let params = ReadFile {
        root_id: at.root_id(),
        path: at.path.clone(),
        encoding: Encoding::Base64,
        offset: Some(offset),
        length: Some(length),
    };
    let result = environment.start::<FileRead>(&params, None).await.outcome().await?;
    let content = Content::read(&result)?;
    let bytes = match content.encoding {
        Encoding::Utf8 => content.content.into_owned().into_bytes(),
        Encoding::Base64 => {
            let wrong = |_| RelayError::new(Code::ProviderError, "the device sent what is no base64");
            BASE64_STANDARD.decode(content.content.as_bytes()).map_err(wrong)?
        }
    };
    if bytes.len() as u64 > length {
        return Err(RelayError::new(Code::ProviderError, "the device sent more than it was asked for"));
    }
    // A device that says nothing of the end has come to it when there is nothing more.
    let is_last = content.eof.unwrap_or(bytes.is_empty());
    Ok(Piece { bytes, size: content.size_bytes, is_last })
}

/// [`protocol::relay::file::FileContent`], without a copy of its text.
#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    content: Cow<'a, str>,
    #[serde(default)]
    encoding: Encoding,
    size_bytes: Option<u64>,
    eof: Option<bool>,
}

impl<'a> Content<'a> {
    fn read(result: &'a Json) -> Result<Self, RelayError> {
        let wrong = |_| RelayError::new(Code::ProviderError, "the device answered something else");
        serde_json::from_str(result.as_str()).map_err(wrong)
    }
}
