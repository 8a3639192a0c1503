//! Request bodies: bounded in size, and in how long they may pause.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use http_body_util::BodyExt;
use protocol::ProblemKind;

use crate::{Refusal, Result};

/// The next piece of a body; `None` at its end.
pub async fn next(body: &mut Body, pause: Duration) -> Result<Option<Bytes>> {
    loop {
        let Ok(frame) = tokio::time::timeout(pause, body.frame()).await else {
            let detail = format!("nothing more of the body came for {} s", pause.as_secs());
            return Err(Refusal::new(ProblemKind::RequestTimeout, detail));
        };
        match frame {
            None => return Ok(None),
            Some(Err(_)) => return Err(Refusal::new(ProblemKind::InvalidRequest, "the body was cut off")),
            // Trailers say nothing that we read.
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) => return Ok(Some(data)),
                Err(_) => continue,
            },
        }
    }
}

/// The whole body; not copied if it came in one piece.
pub async fn collect(mut body: Body, bytes_max: usize, pause: Duration) -> Result<Bytes> {
    let hint = body.size_hint();
    if hint.lower() > bytes_max as u64 {
        return Err(too_large(bytes_max));
    }
    let Some(first) = next(&mut body, pause).await? else { return Ok(Bytes::new()) };
    if first.len() > bytes_max {
        return Err(too_large(bytes_max));
    }
    if body.is_end_stream() {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(first.len() * 2);
    whole.extend_from_slice(&first);
    while let Some(piece) = next(&mut body, pause).await? {
        if whole.len() + piece.len() > bytes_max {
            return Err(too_large(bytes_max));
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.freeze())
}

fn too_large(bytes_max: usize) -> Refusal {
    Refusal::new(ProblemKind::PayloadTooLarge, format!("the body may have at most {bytes_max} bytes"))
}
