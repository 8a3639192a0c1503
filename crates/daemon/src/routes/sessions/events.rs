//! What happens in a session: in pages, or followed.

use std::task::{Context, Poll, ready};

use axum::{body::Body, extract::State, response::Response};
use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, header};
use journal::{Chunk, Item, durable};
use protocol::{ProblemKind, SessionId, sessions::EventPage};
use serde::Deserialize;
use server::{
    ErrorChain,
    extract::{self, Path, Query},
    sse,
};
use tracing::warn;
use utoipa::IntoParams;
use worker_runtime::Readers;

use crate::{
    app::App,
    problem::{ApiError, Result},
    routes::Problems,
};

/// The largest page.
const PAGE_MAX: usize = 1000;

/// How much of a page that was read from the disk is sent as one piece, so that a stalled reader holds no more.
const PIECE_BYTES: usize = 256 << 10;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// The `seq` of the last event that was read; 0 for all.
    #[serde(default)]
    #[param(default = 0)]
    offset: u64,
    /// How many events a page has at most.
    #[param(minimum = 1, maximum = 1000, default = 1000)]
    limit: Option<usize>,
    /// Add to each event what the agent said in its own words.
    #[serde(default)]
    #[param(default = false)]
    include_raw: bool,
}

/// Read the events after `offset`, as a page. One that has grown to 4 MiB ends early.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/events", tag = "sessions",
    params(("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"), PageQuery),
    responses((status = OK, body = EventPage), Problems)
)]
pub(super) async fn events(
    State(app): State<App>,
    Path(id): Path<SessionId>,
    Query(query): Query<PageQuery>,
) -> Result<Response> {
    if query.limit.is_some_and(|limit| !(1..=PAGE_MAX).contains(&limit)) {
        return Err(ApiError::new(
            ProblemKind::InvalidRequest,
            format!("`limit` must be between 1 and {PAGE_MAX}"),
        ));
    }
    let (events, more) = app.sessions.page(&id, query.offset, query.limit, query.include_raw).await?;
    // The events are JSON already.
    let mut body = BytesMut::with_capacity(events.len() + 32);
    body.put_slice(b"{\"events\":");
    body.put_slice(&events);
    body.put_slice(if more { b",\"hasMore\":true}" } else { b",\"hasMore\":false}" });
    let mut response = Response::new(Body::from(body.freeze()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StreamQuery {
    /// The `seq` of the last event that was read; 0 for all. The header `Last-Event-ID` is stronger.
    offset: Option<u64>,
    /// Add to each event what the agent said in its own words.
    #[serde(default)]
    #[param(default = false)]
    include_raw: bool,
}

/// Follow the events after `offset`, as server-sent events, until the session is deleted.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/events/sse", tag = "sessions",
    params(
        ("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"),
        StreamQuery,
        ("last-event-id" = Option<String>, Header, description = "As `offset`, for a stream that goes on"),
    ),
    responses(
        (status = OK, description = "Events whose id is `seq` and whose data is a `Record`; and the control event `gap`, where events are no longer kept",
            body = String, content_type = "text/event-stream"),
        Problems,
    )
)]
pub(super) async fn stream(
    State(app): State<App>,
    Path(id): Path<SessionId>,
    Query(query): Query<StreamQuery>,
    headers: HeaderMap,
) -> Result<Response> {
    let offset = extract::last_event(&headers, query.offset)?.unwrap_or(0);
    let reader = app.sessions.reader(&id, offset).await?;
    Ok(sse::response(Records { reader, include_raw: query.include_raw, rest: None }))
}

/// The journal of a session as events.
struct Records {
    reader: Readers,
    include_raw: bool,
    /// What was read and not sent: a chunk, and how many frames of it are sent.
    rest: Option<(Chunk, usize)>,
}

impl sse::Source for Records {
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let (chunk, sent) = match self.rest.take() {
            Some(rest) => rest,
            None => match ready!(self.reader.poll_next(cx)) {
                Ok(Some(Item::Frames(chunk))) => (chunk, 0),
                Ok(Some(Item::Gap(gap))) => return Poll::Ready(Some(acp::gap_frame(gap))),
                Ok(None) | Err(durable::Error::Deleted) => return Poll::Ready(None),
                Err(error) => {
                    // Whoever follows comes again, and is told what is wrong if it still is.
                    warn!(error = %ErrorChain(&error), "a session cannot be followed");
                    return Poll::Ready(None);
                }
            },
        };
        let mut out = BytesMut::with_capacity(room(&chunk, sent));
        let mut at = sent;
        while at < chunk.len() && (at == sent || out.len() < PIECE_BYTES) {
            render(chunk.first().get() + at as u64, &chunk.frame(at), self.include_raw, &mut out);
            at += 1;
        }
        self.rest = (at < chunk.len()).then_some((chunk, at));
        Poll::Ready(Some(out.freeze()))
    }
}

/// What the frames of a chunk come to, so that a piece is allocated once.
fn room(chunk: &Chunk, sent: usize) -> usize {
    /// The most that an event is longer than its frame.
    const OVERHEAD_MAX: usize = "id: \ndata: {\"seq\":,\"raw\":\n\n".len() + 2 * 20;
    let frames = chunk.len() - sent;
    (chunk.bytes().len() * frames / chunk.len() + frames * OVERHEAD_MAX).min(PIECE_BYTES + (64 << 10))
}

fn render(seq: u64, frame: &[u8], include_raw: bool, out: &mut BytesMut) {
    out.put_slice(b"id: ");
    out.put_slice(itoa::Buffer::new().format(seq).as_bytes());
    out.put_slice(b"\ndata: ");
    worker_runtime::render(seq, frame, include_raw, out);
    out.put_slice(b"\n\n");
}
