//! `/v1/waits`: questions and permissions that wait for a person, in all sessions.

use std::task::{Context, Poll};

use axum::{Json, extract::State, response::Response};
use bytes::Bytes;
use protocol::{
    WaitId,
    wait::{AnswerWaitRequest, Wait, WaitList},
};
use server::{
    RouteCollector,
    extract::{self, AcceptsEventStream, AuthorHeader, Path},
    routes, sse,
};
use worker_runtime::WaitSubscription;

use super::Problems;
use crate::{api_error::Result, app::App};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(list)).add(routes!(events)).add(routes!(answer));
}

/// List the open waits of all sessions, the oldest first.
#[utoipa::path(get, path = "/v1/waits", tag = "waits", responses((status = OK, body = WaitList), Problems))]
async fn list(State(app): State<App>) -> Result<Json<WaitList>> {
    Ok(Json(WaitList { items: app.sessions.waits().await?, next_cursor: None }))
}

/// Stream the waits of all sessions as server-sent events.
///
/// The first event is a snapshot of all open waits. Then there is one event for each wait that opens or ends. A client that
/// reads too slowly gets a new snapshot.
#[utoipa::path(
    get, path = "/v1/waits/events", tag = "waits",
    responses(
        (status = OK, description = "Events whose data is a `WaitEvent`", body = serde_json::Value, content_type = "text/event-stream"),
        Problems,
    )
)]
async fn events(_: AcceptsEventStream, State(app): State<App>) -> Result<Response> {
    Ok(sse::response(WaitEventStream(app.sessions.subscribe_to_waits().await?)))
}

/// The changes of waits, rendered as server-sent events.
struct WaitEventStream(WaitSubscription);

impl sse::EventSource for WaitEventStream {
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.0.poll_next(cx).map(|events| events.map(|events| sse::data_events(&events)))
    }
}

/// Answer a wait: a permission, a question or a plan. The first answer wins.
#[utoipa::path(
    post, path = "/v1/waits/{wait_id}", tag = "waits", request_body = AnswerWaitRequest,
    params(("wait_id" = String, Path, pattern = "^wat_[0-9a-f]{32}$", description = "The question or permission"), AuthorHeader),
    responses((status = OK, description = "The settled wait; the answer is delivered to the agent", body = Wait), Problems)
)]
async fn answer(
    State(app): State<App>,
    Path(id): Path<WaitId>,
    author_header: AuthorHeader,
    extract::Json(mut reply): extract::Json<AnswerWaitRequest>,
) -> Result<Json<Wait>> {
    reply.author = author_header.or_body_author(reply.author);
    Ok(Json(app.sessions.settle(id, reply).await?))
}
