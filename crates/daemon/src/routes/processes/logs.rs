//! Reads the output of a process, in pages or as a stream.

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
use user_processes::{LogFollower, LogItem, PAGE_MAX, ProcessEvent};
use utoipa::IntoParams;

use crate::{
    api_error::{ApiError, Result},
    app::App,
    routes::Problems,
};

/// Small events are combined up to this size before they are sent.
const BATCH_BYTES: usize = 64 << 10;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct LogsQuery {
    /// The `nextCursor` of the previous page, or the `seq` of the last entry that the client received; all retained entries if
    /// left out.
    #[serde(alias = "after")]
    #[param(value_type = Option<String>, pattern = "^[0-9]{1,20}$")]
    cursor: Option<u64>,
    /// The maximum number of entries in a page. A stream has no limit.
    #[param(minimum = 1, maximum = 1000, default = 1000)]
    limit: Option<usize>,
    /// Whether to stream the output as server-sent events until the process exits.
    #[serde(default)]
    #[param(default = false)]
    follow: bool,
}

/// Read the output of a process, as a page or as a stream.
#[utoipa::path(
    get, path = "/v1/processes/{id}/logs", tag = "processes",
    params(
        ("id" = String, Path, pattern = "^prc_[0-9a-f]{32}$", description = "The process"),
        LogsQuery,
        ("last-event-id" = Option<String>, Header, description = "As `cursor`, for a reconnecting client"),
    ),
    responses(
        (status = OK, content(
            (ProcessLogPage = "application/json"),
            (String = "text/event-stream"),
        ), description = "A page; or `output` events with ids, whose data is a `ProcessLogEntry`, and the control events `gap` and `exited`, which is the last"),
        Problems,
    )
)]
pub(super) async fn logs(
    State(app): State<App>,
    Path(id): Path<ProcessId>,
    Query(query): Query<LogsQuery>,
    headers: HeaderMap,
) -> Result<Response> {
    let after = extract::last_event_id(&headers, query.cursor)?.map(Seq::new);
    if query.follow {
        extract::accept_event_stream(&headers)?;
        return Ok(sse::response(ProcessLogEvents(app.processes.follow(id, after)?)));
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

/// The output of a process, rendered as server-sent events.
struct ProcessLogEvents(LogFollower);

impl sse::EventSource for ProcessLogEvents {
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut out = BytesMut::new();
        while out.len() < BATCH_BYTES {
            match self.0.poll_next(cx) {
                Poll::Ready(Some(item)) => render(item, &mut out),
                Poll::Ready(None) if out.is_empty() => return Poll::Ready(None),
                Poll::Pending if out.is_empty() => return Poll::Pending,
                // Send the events so far; the next poll gets the same result again.
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        Poll::Ready(Some(out.freeze()))
    }
}

fn render(item: LogItem, out: &mut BytesMut) {
    match item {
        LogItem::Event(seq, ProcessEvent::Output(output)) => {
            let _ = write!(out, "event: output\nid: {seq}\ndata: {}\n\n", json(&output.entry(seq)));
        }
        LogItem::Event(_, ProcessEvent::Exited(exit)) => {
            let _ = write!(out, "event: exited\ndata: {}\n\n", json(&exit));
        }
        LogItem::Gap(gap) => out.extend_from_slice(&sse::gap_event(gap)),
    }
}

/// Renders a wire type, which always serializes, on one line.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
