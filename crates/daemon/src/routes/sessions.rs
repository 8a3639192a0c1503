//! `/v1/sessions`: conversations with any agent, through one API.

mod answers;
mod events;
mod inputs;

use axum::{Json, extract::State};
use http::StatusCode;
use protocol::{
    SessionId,
    sessions::{CreateSessionRequest, Session, SessionCreated, SessionList, SessionSnapshot},
};
use server::{
    RouteCollector,
    extract::{self, Path},
    routes,
};

use super::Problems;
use crate::{api_error::Result, app::App};

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

/// List the sessions, the most recently used first.
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", responses((status = OK, body = SessionList), Problems))]
async fn list(State(app): State<App>) -> Result<Json<SessionList>> {
    Ok(Json(SessionList { items: app.sessions.list().await?, next_cursor: None }))
}

/// Create a session, install its agent if needed and start it. The same request again returns the same session.
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
