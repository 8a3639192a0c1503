//! `/v1/sessions`: conversations with any agent, through one API.

mod answers;
mod events;
mod inputs;

use axum::{Json, extract::State};
use http::StatusCode;
use jiff::Timestamp;
use protocol::{
    AgentName, ProblemKind, SessionId,
    sessions::{CreateSessionRequest, Session, SessionCreated, SessionList, SessionSnapshot, SessionState},
};
use serde::Deserialize;
use server::{
    RouteCollector,
    extract::{self, Path, Query},
    routes,
};
use utoipa::IntoParams;
use worker_runtime::SessionFilter;

use super::Problems;
use crate::{
    api_error::{ApiError, Result},
    app::App,
};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector
        .add(routes!(list))
        .add(routes!(create, read, delete))
        .add(routes!(snapshot))
        .add(routes!(cancel))
        .add(routes!(inputs::send, inputs::transcript))
        .add(routes!(inputs::inputs))
        .add(routes!(inputs::edit, inputs::withdraw))
        .add(routes!(events::events))
        .add(routes!(events::stream))
        .add(routes!(answers::reply))
        .add(routes!(answers::reject))
        .add(routes!(answers::permit));
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SessionListQuery {
    /// Only sessions whose last event was recorded at or after this time.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// Only sessions of this agent.
    #[param(value_type = Option<String>)]
    agent: Option<AgentName>,
    /// Only sessions in exactly this directory.
    directory: Option<String>,
    /// Only sessions in this state: `dormant`, `starting`, `idle`, `running`, `waiting` or `ended`.
    #[param(value_type = Option<String>)]
    state: Option<SessionState>,
}

/// List the sessions, the most recently used first. With several parameters, only those that match all of them.
#[utoipa::path(
    get, path = "/v1/sessions", tag = "sessions", params(SessionListQuery),
    responses((status = OK, body = SessionList), Problems)
)]
async fn list(State(app): State<App>, Query(query): Query<SessionListQuery>) -> Result<Json<SessionList>> {
    let SessionListQuery { since, agent, directory, state } = query;
    if state == Some(SessionState::Other) {
        let detail = "`state` must be dormant, starting, idle, running, waiting or ended";
        return Err(ApiError::new(ProblemKind::InvalidRequest, detail));
    }
    let filter = SessionFilter { since, agent, directory, state };
    Ok(Json(SessionList { items: app.sessions.list(&filter).await?, next_cursor: None }))
}

/// Create a session, install its agent if needed and start it. The same request again returns the same session. A session whose
/// agent could not be started, and that has no messages, is replaced if the request differs.
#[utoipa::path(
    post, path = "/v1/sessions/{id}", tag = "sessions", request_body = CreateSessionRequest,
    params(("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The id that the client chose for the session")),
    responses(
        (status = OK, description = "The session exists; `healthy` says whether its agent is ready", body = SessionCreated),
        Problems,
    )
)]
async fn create(
    State(app): State<App>,
    Path(id): Path<SessionId>,
    extract::Json(create): extract::Json<CreateSessionRequest>,
) -> Result<Json<SessionCreated>> {
    Ok(Json(app.sessions.create(&id, create).await?))
}

/// Read one session.
#[utoipa::path(
    get, path = "/v1/sessions/{id}", tag = "sessions",
    params(("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session")),
    responses((status = OK, body = Session), Problems)
)]
async fn read(State(app): State<App>, Path(id): Path<SessionId>) -> Result<Json<Session>> {
    Ok(Json(app.sessions.get(&id).await?))
}

/// Delete a session and stop its agent.
#[utoipa::path(
    delete, path = "/v1/sessions/{id}", tag = "sessions",
    params(("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session")),
    responses((status = NO_CONTENT, description = "Deleted, or did not exist"), Problems)
)]
async fn delete(State(app): State<App>, Path(id): Path<SessionId>) -> Result<StatusCode> {
    app.sessions.delete(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Read the state of a session after all events so far, with the position at which to continue the event stream.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/snapshot", tag = "sessions",
    params(("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session")),
    responses((status = OK, body = SessionSnapshot), Problems)
)]
async fn snapshot(State(app): State<App>, Path(id): Path<SessionId>) -> Result<Json<SessionSnapshot>> {
    Ok(Json(app.sessions.snapshot(&id).await?))
}

/// Cancel the running turn, if there is one.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/cancel", tag = "sessions",
    params(("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session")),
    responses((status = NO_CONTENT, description = "The turn is being cancelled, or none is running"), Problems)
)]
async fn cancel(State(app): State<App>, Path(id): Path<SessionId>) -> Result<StatusCode> {
    app.sessions.cancel(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}
