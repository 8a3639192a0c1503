//! Writes a file, in pieces if it is too large for one message.

use base64::{Engine, prelude::BASE64_STANDARD};
use futures_util::{StreamExt, TryStreamExt, stream::BoxStream};
use protocol::relay::{
    Encoding, RelayError, RelayErrorCode,
    file::{CreateMode, WriteFile, WriteFileResult},
    method::FileWrite,
};

use super::{At, Error, Writing};
use crate::Environment;

/// The size of one write. Encoded as base64, it fits in one message.
const PIECE_BYTES_MAX: usize = 512 << 10;

/// The size up to which text is sent as text, so that people can read the request. In JSON, text is at most six times as long.
const TEXT_BYTES_MAX: usize = 128 << 10;

/// Writes a whole file.
pub(super) async fn write(
    environment: &Environment,
    at: &At,
    content: &[u8],
    writing: Writing,
) -> Result<WriteFileResult, Error> {
    let (first, rest) = content.split_at(content.len().min(PIECE_BYTES_MAX));
    let mut written = once(environment, at, first, false, writing).await?;
    for piece in rest.chunks(PIECE_BYTES_MAX) {
        let expected = written.size_bytes + piece.len() as u64;
        written = once(environment, at, piece, true, Writing::default()).await?;
        is_as_long(at, &written, expected)?;
    }
    Ok(written)
}

/// Appends to a file.
pub(super) async fn append(
    environment: &Environment,
    at: &At,
    content: &[u8],
) -> Result<WriteFileResult, Error> {
    let (first, rest) = content.split_at(content.len().min(PIECE_BYTES_MAX));
    let mut written = once(environment, at, first, true, Writing::default()).await?;
    for piece in rest.chunks(PIECE_BYTES_MAX) {
        written = once(environment, at, piece, true, Writing::default()).await?;
    }
    Ok(written)
}

/// Writes a whole file from a stream.
pub(super) async fn pour(
    environment: &Environment,
    at: &At,
    content: BoxStream<'static, Result<Vec<u8>, Error>>,
) -> Result<(), Error> {
    let mut content = content.fuse();
    // Wait for the first piece before writing, so that a source that cannot be read leaves no file.
    let mut piece = content.try_next().await?.unwrap_or_default();
    let mut written: Option<WriteFileResult> = None;
    loop {
        // Combine small pieces up to the size of one write.
        let mut more = None;
        while piece.len() < PIECE_BYTES_MAX {
            match content.try_next().await? {
                Some(next) if piece.len() + next.len() <= PIECE_BYTES_MAX => piece.extend_from_slice(&next),
                next => {
                    more = next;
                    break;
                }
            }
        }
        let now = match &written {
            None => write(environment, at, &piece, Writing::default()).await?,
            Some(before) => {
                let now = append(environment, at, &piece).await?;
                is_as_long(at, &now, before.size_bytes + piece.len() as u64)?;
                now
            }
        };
        written = Some(now);
        let Some(next) = (match more {
            Some(next) => Some(next),
            None => content.try_next().await?,
        }) else {
            return Ok(());
        };
        piece = next;
    }
}

/// Checks that the file has the expected size after a piece, which detects another writer of the same file.
fn is_as_long(at: &At, written: &WriteFileResult, expected: u64) -> Result<(), Error> {
    if written.size_bytes == expected {
        return Ok(());
    }
    let error =
        RelayError::new(RelayErrorCode::InvalidRequest, "the file is being written by another request");
    Err(at.error(error.with("reason", "conflict")))
}

async fn once(
    environment: &Environment,
    at: &At,
    content: &[u8],
    append: bool,
    writing: Writing,
) -> Result<WriteFileResult, Error> {
    let (content, encoding) = match std::str::from_utf8(content) {
        Ok(text) if text.len() <= TEXT_BYTES_MAX => (text.to_owned(), Encoding::Utf8),
        _ => (BASE64_STANDARD.encode(content), Encoding::Base64),
    };
    let params = WriteFile {
        root_id: at.root_id(),
        path: at.path.clone(),
        content,
        encoding,
        append,
        create: (writing.create != CreateMode::Always).then_some(writing.create),
        if_match: writing.if_match,
    };
    environment.ask::<FileWrite>(&params).await.map_err(|error| at.error(error))
}
