//! What a process wrote: in pages, or followed to its end.

use std::{
    fmt::Write,
    task::{Context, Poll},
};

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use journal::Seq;
use protocol::{ProblemKind, ProcessId, processes::ProcessLogPage};
use serde::{Deserialize, Serialize};
use server::{
    extract::{self, Path, Query},
    sse,
};
use user_processes::{Event, Follower, Item, PAGE_MAX};
use utoipa::IntoParams;

use crate::{
    app::App,
    problem::{ApiError, Result},
    routes::Problems,
};

/// How many bytes of events are sent as one piece, so that small ones travel together.
const PIECE_BYTES: usize = 64 << 10;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct LogsQuery {
    /// The number of the last piece that was read; everything that is kept if left out.
    after: Option<u64>,
    /// How many pieces a page has at most. A stream has no limit.
    #[param(minimum = 1, maximum = 1000, default = 1000)]
    limit: Option<usize>,
    /// Follow what it writes, as server-sent events, to its end.
    #[serde(default)]
    #[param(default = false)]
    follow: bool,
}

/// Read what a process wrote, as a page or as a stream.
#[utoipa::path(
    get, path = "/v1/processes/{id}/logs", tag = "processes",
    params(
        ("id" = String, Path, pattern = "^prc_[0-9a-f]{32}$", description = "The process"),
        LogsQuery,
        ("last-event-id" = Option<String>, Header, description = "As `after`, for a stream that goes on"),
    ),
    responses(
        (status = OK, content(
            (ProcessLogPage = "application/json"),
            (String = "text/event-stream"),
        ), description = "A page; or `output` events with ids, whose data is a `LogEntry`, and the control events `gap` and `exited`, which is the last"),
        Problems,
    )
)]
pub(super) async fn logs(
    State(app): State<App>,
    Path(id): Path<ProcessId>,
    Query(query): Query<LogsQuery>,
    headers: HeaderMap,
) -> Result<Response> {
    let after = extract::last_event(&headers, query.after)?.map(Seq::new);
    if query.follow {
        return Ok(sse::response(Log(app.processes.follow(id, after)?)));
    }
    let limit = query.limit.unwrap_or(PAGE_MAX);
    if !(1..=PAGE_MAX).contains(&limit) {
        return Err(ApiError::new(
            ProblemKind::InvalidRequest,
            format!("`limit` must be between 1 and {PAGE_MAX}"),
        ));
    }
    Ok(Json(app.processes.logs(id, after, limit)?).into_response())
}

/// The log of a process as events.
struct Log(Follower);

impl sse::Source for Log {
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut out = BytesMut::new();
        while out.len() < PIECE_BYTES {
            match self.0.poll_next(cx) {
                Poll::Ready(Some(item)) => render(item, &mut out),
                Poll::Ready(None) if out.is_empty() => return Poll::Ready(None),
                Poll::Pending if out.is_empty() => return Poll::Pending,
                // What there is goes first; then it is asked again.
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        Poll::Ready(Some(out.freeze()))
    }
}

fn render(item: Item, out: &mut BytesMut) {
    match item {
        Item::Event(seq, Event::Output(output)) => {
            let _ = write!(out, "event: output\nid: {seq}\ndata: {}\n\n", json(&output.entry(seq)));
        }
        Item::Event(_, Event::Exited(exit)) => {
            let _ = write!(out, "event: exited\ndata: {}\n\n", json(&exit));
        }
        Item::Gap(gap) => out.extend_from_slice(&acp::gap_frame(gap)),
    }
}

/// Our own types always have a JSON form, on one line.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
