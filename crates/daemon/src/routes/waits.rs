//! `/v1/waits`: everything that stops until a person answers.

use axum::{Json, extract::State};
use protocol::wait::WaitList;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::Problems;
use crate::{app::App, problem::Result};

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list))
}

/// List what waits for a person, in all sessions, the oldest first.
#[utoipa::path(get, path = "/v1/waits", tag = "sessions", responses((status = OK, body = WaitList), Problems))]
async fn list(State(app): State<App>) -> Result<Json<WaitList>> {
    Ok(Json(WaitList { items: app.sessions.waits().await?, next_cursor: None }))
}
