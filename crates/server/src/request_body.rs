//! Reads request bodies, limiting their size, the time between two chunks and the time of all.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use http_body_util::BodyExt;
use protocol::ProblemKind;
use tokio::{sync::Semaphore, time::Instant};

use crate::{ProblemResponse, Result};

/// How long a client may take for the first bytes of a body that is read as a whole, …
const FIRST_BYTES_TIME: Duration = Duration::from_secs(20);

/// … and how fast it must be from then on.
const BYTES_PER_SECOND_MIN: usize = 8 << 10;

/// How much of a body that is too large is read and discarded, and for how long.
const DISCARD_BYTES_MAX: usize = 32 << 20;
const DISCARD_TIME_MAX: Duration = Duration::from_secs(5);

/// How many bodies are discarded at a time. Each keeps a buffer of its connection busy; the clients beyond that may see a
/// broken pipe.
const DISCARDS_MAX: usize = 16;
static DISCARDS: Semaphore = Semaphore::const_new(DISCARDS_MAX);

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
///
/// A client that keeps sending, but has not sent enough after the first 20 seconds, is cut off: otherwise many that send a
/// byte every now and then could hold their connections for ever.
pub async fn collect(mut body: Body, bytes_max: usize, stall_timeout: Duration) -> Result<Bytes> {
    let started = Instant::now();
    let hint = body.size_hint();
    if hint.lower() > bytes_max as u64 {
        return Err(too_large(body, bytes_max).await);
    }
    let Some(first) = next_chunk(&mut body, stall_timeout).await? else { return Ok(Bytes::new()) };
    if first.len() > bytes_max {
        return Err(too_large(body, bytes_max).await);
    }
    if body.is_end_stream() {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(first.len() * 2);
    whole.extend_from_slice(&first);
    loop {
        let deadline = started + FIRST_BYTES_TIME + time_for(whole.len());
        let Ok(chunk) = tokio::time::timeout_at(deadline, next_chunk(&mut body, stall_timeout)).await else {
            return Err(ProblemResponse::new(
                ProblemKind::RequestTimeout,
                format!("the request body arrives more slowly than {BYTES_PER_SECOND_MIN} bytes per second"),
            ));
        };
        let Some(chunk) = chunk? else { return Ok(whole.freeze()) };
        if whole.len() + chunk.len() > bytes_max {
            return Err(too_large(body, bytes_max).await);
        }
        whole.extend_from_slice(&chunk);
    }
}

/// How long so many bytes may take.
fn time_for(bytes: usize) -> Duration {
    Duration::from_secs((bytes / BYTES_PER_SECOND_MIN) as u64)
}

/// Discards the rest of a body that is too large, within limits. A client that still sends when the connection is closed
/// would otherwise see a broken pipe instead of the response.
async fn too_large(mut body: Body, bytes_max: usize) -> ProblemResponse {
    let discard = async {
        let mut discarded = 0;
        while let Ok(Some(chunk)) = next_chunk(&mut body, DISCARD_TIME_MAX).await {
            discarded += chunk.len();
            if discarded > DISCARD_BYTES_MAX {
                break;
            }
        }
    };
    if let Ok(_permit) = DISCARDS.try_acquire() {
        let _ = tokio::time::timeout(DISCARD_TIME_MAX, discard).await;
    }
    ProblemResponse::new(
        ProblemKind::PayloadTooLarge,
        format!("the request body is larger than the limit of {bytes_max} bytes"),
    )
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::{StreamExt, stream};

    use super::*;

    const STALL: Duration = Duration::from_secs(30);

    /// A body that sends `chunk` every `pause`.
    fn dripping(chunk: &'static [u8], pause: Duration) -> Body {
        let chunks = stream::repeat(chunk).then(move |chunk| async move {
            tokio::time::sleep(pause).await;
            Ok::<_, Infallible>(Bytes::from_static(chunk))
        });
        Body::from_stream(chunks)
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_drips_is_cut_off_although_it_never_stalls() {
        let started = Instant::now();
        let problem = collect(dripping(b"x", Duration::from_secs(5)), 1 << 20, STALL).await.unwrap_err();
        assert_eq!(problem.problem().kind, ProblemKind::RequestTimeout);
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_client_that_keeps_up_is_heard_out() {
        let chunk: &[u8] = &[b'x'; 32 << 10];
        let body = dripping(chunk, Duration::from_secs(3)).into_data_stream().take(30);
        let whole = collect(Body::from_stream(body), 1 << 20, STALL).await.unwrap();
        assert_eq!(whole.len(), 30 * chunk.len());
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_is_too_large_is_discarded_for_a_moment_only() {
        let started = Instant::now();
        let problem = collect(dripping(b"too large", Duration::from_secs(1)), 4, STALL).await.unwrap_err();
        assert_eq!(problem.problem().kind, ProblemKind::PayloadTooLarge);
        assert!(started.elapsed() <= Duration::from_secs(1) + DISCARD_TIME_MAX);
        let body = dripping(&[b'x'; 1 << 20], Duration::from_millis(1));
        assert_eq!(collect(body, 4, STALL).await.unwrap_err().problem().kind, ProblemKind::PayloadTooLarge);
    }
}
