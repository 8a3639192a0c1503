//! Reads request bodies, limiting their size and the time between two chunks.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use http_body_util::BodyExt;
use protocol::ProblemKind;

use crate::{ProblemResponse, Result};

/// Reads the next chunk of a body; `None` at its end. Fails if the client sends nothing for `stall_timeout`.
pub async fn next_chunk(body: &mut Body, stall_timeout: Duration) -> Result<Option<Bytes>> {
    loop {
        let Ok(frame) = tokio::time::timeout(stall_timeout, body.frame()).await else {
            let detail = format!("received no data of the request body for {} s", stall_timeout.as_secs());
            return Err(ProblemResponse::new(ProblemKind::RequestTimeout, detail));
        };
        match frame {
            None => return Ok(None),
            Some(Err(_)) => {
                return Err(ProblemResponse::new(
                    ProblemKind::InvalidRequest,
                    "the connection ended before the request body was complete",
                ));
            }
            // Skip trailers: no route uses them.
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) => return Ok(Some(data)),
                Err(_) => continue,
            },
        }
    }
}

/// Reads the whole body, without copying it if it arrives in one chunk.
pub async fn collect(mut body: Body, bytes_max: usize, stall_timeout: Duration) -> Result<Bytes> {
    let hint = body.size_hint();
    if hint.lower() > bytes_max as u64 {
        return Err(too_large(bytes_max));
    }
    let Some(first) = next_chunk(&mut body, stall_timeout).await? else { return Ok(Bytes::new()) };
    if first.len() > bytes_max {
        return Err(too_large(bytes_max));
    }
    if body.is_end_stream() {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(first.len() * 2);
    whole.extend_from_slice(&first);
    while let Some(chunk) = next_chunk(&mut body, stall_timeout).await? {
        if whole.len() + chunk.len() > bytes_max {
            return Err(too_large(bytes_max));
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(whole.freeze())
}

fn too_large(bytes_max: usize) -> ProblemResponse {
    ProblemResponse::new(
        ProblemKind::PayloadTooLarge,
        format!("the request body is larger than the limit of {bytes_max} bytes"),
    )
}
