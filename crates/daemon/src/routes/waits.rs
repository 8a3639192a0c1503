//! `/v1/waits`: everything that stops until a person answers.

use std::task::{Context, Poll};

use axum::{Json, extract::State, response::Response};
use bytes::Bytes;
use protocol::{
    WaitId,
    wait::{AnswerWaitRequest, Wait, WaitList},
};
use server::{
    extract::{self, By, Path},
    sse,
};
use utoipa_axum::{router::OpenApiRouter, routes};
use worker_runtime::Waiting;

use super::Problems;
use crate::{app::App, problem::Result};

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(events)).routes(routes!(answer))
}

/// List what waits for a person, in all sessions, the oldest first.
#[utoipa::path(get, path = "/v1/waits", tag = "waits", responses((status = OK, body = WaitList), Problems))]
async fn list(State(app): State<App>) -> Result<Json<WaitList>> {
    Ok(Json(WaitList { items: app.sessions.waits().await?, next_cursor: None }))
}

/// Follow what waits for a person, in all sessions, as server-sent events.
///
/// The first is the snapshot: all that are open. Then whatever is opened or settled, each once. Who does not read fast
/// enough gets another snapshot.
#[utoipa::path(
    get, path = "/v1/waits/events", tag = "waits",
    responses(
        (status = OK, description = "Events whose data is a `WaitEvent`", body = serde_json::Value, content_type = "text/event-stream"),
        Problems,
    )
)]
async fn events(State(app): State<App>) -> Result<Response> {
    Ok(sse::response(Events(app.sessions.waiting().await?)))
}

/// What becomes of the waits, as events.
struct Events(Waiting);

impl sse::Source for Events {
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.0.poll_next(cx).map(|events| events.map(|events| sse::messages(&events)))
    }
}

/// Answer whatever is asked: a permission, a question, a plan. The first answer holds.
#[utoipa::path(
    post, path = "/v1/waits/{wait_id}", tag = "waits", request_body = AnswerWaitRequest,
    params(("wait_id" = String, Path, pattern = "^wat_[0-9a-f]{32}$", description = "The question or permission"), By),
    responses((status = OK, description = "The agent is told; this is how it was settled", body = Wait), Problems)
)]
async fn answer(
    State(app): State<App>,
    Path(id): Path<WaitId>,
    by: By,
    extract::Json(mut reply): extract::Json<AnswerWaitRequest>,
) -> Result<Json<Wait>> {
    reply.author = by.or(reply.author);
    Ok(Json(app.sessions.settle(id, reply).await?))
}
