//! Reads the events of a session, in pages or as a stream.

use std::task::{Context, Poll, ready};

use axum::{body::Body, extract::State, response::Response};
use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, header};
use journal::{FrameChunk, JournalItem, durable};
use protocol::{ProblemKind, SessionId, sessions::EventPage};
use serde::Deserialize;
use server::{
    ErrorChain,
    extract::{self, AcceptsEventStream, Path, Query},
    sse,
};
use tracing::warn;
use utoipa::IntoParams;
use worker_runtime::{EventReader, PAGE_EVENTS_MAX};

use crate::{
    api_error::{ApiError, Result},
    app::App,
    routes::Problems,
};

/// How much is rendered at a time, so that a stalled reader holds no more memory than this.
const RENDER_BYTES: usize = 256 << 10;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct EventPageQuery {
    /// The `seq` of the last event that the client received; 0 for all events.
    #[serde(default)]
    #[param(default = 0)]
    offset: u64,
    /// The maximum number of events in the page.
    #[param(minimum = 1, maximum = 1000, default = 1000)]
    limit: Option<usize>,
    /// Whether to add the agent's original message to each event.
    #[serde(default)]
    #[param(default = false)]
    include_raw: bool,
}

/// Read a page of the events after `offset`. A page ends early at 4 MiB.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/events", tag = "sessions",
    params(("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"), EventPageQuery),
    responses((status = OK, body = EventPage), Problems)
)]
pub(super) async fn events(
    State(app): State<App>,
    Path(id): Path<SessionId>,
    Query(query): Query<EventPageQuery>,
) -> Result<Response> {
    if query.limit.is_some_and(|limit| !(1..=PAGE_EVENTS_MAX).contains(&limit)) {
        return Err(ApiError::new(
            ProblemKind::InvalidRequest,
            format!("`limit` must be between 1 and {PAGE_EVENTS_MAX}"),
        ));
    }
    let (events, more) = app.sessions.page(&id, query.offset, query.limit, query.include_raw).await?;
    // The events are stored as JSON, so the body is assembled from bytes.
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
pub(super) struct EventStreamQuery {
    /// The `seq` of the last event that the client received; 0 for all events. The header `Last-Event-ID` takes precedence.
    offset: Option<u64>,
    /// Whether to add the agent's original message to each event.
    #[serde(default)]
    #[param(default = false)]
    include_raw: bool,
}

/// Stream the events after `offset` as server-sent events, until the session is deleted.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/events/sse", tag = "sessions",
    params(
        ("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"),
        EventStreamQuery,
        ("last-event-id" = Option<String>, Header, description = "As `offset`, for a reconnecting client"),
    ),
    responses(
        (status = OK, description = "Events whose id is `seq` and whose data is an `EventRecord`; and the control event `gap`, where events are no longer stored",
            body = String, content_type = "text/event-stream"),
        Problems,
    )
)]
pub(super) async fn stream(
    _: AcceptsEventStream,
    State(app): State<App>,
    Path(id): Path<SessionId>,
    Query(query): Query<EventStreamQuery>,
    headers: HeaderMap,
) -> Result<Response> {
    let offset = extract::last_event_id(&headers, query.offset)?.unwrap_or(0);
    let reader = app.sessions.reader(&id, offset).await?;
    Ok(sse::response(SessionEventStream { reader, include_raw: query.include_raw, partial: None }))
}

/// The journal of a session, rendered as server-sent events.
struct SessionEventStream {
    reader: EventReader,
    include_raw: bool,
    /// A chunk that is not completely sent.
    partial: Option<PartialChunk>,
}

struct PartialChunk {
    chunk: FrameChunk,
    /// How many frames of it are sent.
    sent: usize,
}

impl sse::EventSource for SessionEventStream {
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let PartialChunk { chunk, sent } = match self.partial.take() {
            Some(partial) => partial,
            None => match ready!(self.reader.poll_next(cx)) {
                Ok(Some(JournalItem::Frames(chunk))) => PartialChunk { chunk, sent: 0 },
                Ok(Some(JournalItem::Gap(gap))) => return Poll::Ready(Some(sse::gap_event(gap))),
                Ok(None) | Err(durable::Error::Deleted) => return Poll::Ready(None),
                Err(error) => {
                    // A stream that has started cannot report the error. The client reconnects, and then gets a problem
                    // document if the error persists.
                    warn!(error = %ErrorChain(&error), "could not read the events of a session");
                    return Poll::Ready(None);
                }
            },
        };
        let mut out = BytesMut::with_capacity(estimate_bytes(&chunk, sent));
        let mut next = sent;
        while next < chunk.len() && (next == sent || out.len() < RENDER_BYTES) {
            render(chunk.first().get() + next as u64, &chunk.frame(next), self.include_raw, &mut out);
            next += 1;
        }
        self.partial = (next < chunk.len()).then_some(PartialChunk { chunk, sent: next });
        Poll::Ready(Some(out.freeze()))
    }
}

/// Estimates the rendered size of the frames that are not sent yet, so that the buffer is allocated once.
fn estimate_bytes(chunk: &FrameChunk, sent: usize) -> usize {
    /// The largest difference between the length of an event and of its frame.
    const OVERHEAD_MAX: usize = "id: \ndata: {\"seq\":,\"raw\":\n\n".len() + 2 * 20;
    let frames = chunk.len() - sent;
    (chunk.bytes().len() * frames / chunk.len() + frames * OVERHEAD_MAX).min(RENDER_BYTES + (64 << 10))
}

fn render(seq: u64, frame: &[u8], include_raw: bool, out: &mut BytesMut) {
    out.put_slice(b"id: ");
    out.put_slice(itoa::Buffer::new().format(seq).as_bytes());
    out.put_slice(b"\ndata: ");
    worker_runtime::render(seq, frame, include_raw, out);
    out.put_slice(b"\n\n");
}
