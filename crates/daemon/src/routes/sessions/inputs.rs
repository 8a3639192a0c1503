//! What is said to a session, and what was said in it.

use axum::{Json, extract::State};
use http::{HeaderMap, StatusCode};
use protocol::{
    InputId, ProblemKind, SessionId,
    sessions::{EditInputRequest, MessageAccepted, SendMessageRequest, SessionInputList, TranscriptPage},
};
use serde::Deserialize;
use server::extract::{self, By, LongJson, Path, Query};
use utoipa::IntoParams;

use crate::{
    app::App,
    problem::{ApiError, Result},
    routes::Problems,
};

/// The longest message with all that goes with it: room for a few pictures.
const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// The longest text of a message that takes the place of another.
const EDIT_BYTES_MAX: usize = MESSAGE_BYTES_MAX;

/// Cursors are numbers of ours, written with leading zeros.
const CURSOR_BYTES_MAX: usize = 32;

/// Send a message; answered when it is written down. While a turn runs, `whenBusy` says what becomes of it.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/messages", tag = "sessions", request_body = SendMessageRequest,
    params(
        ("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"),
        ("idempotency-key" = Option<String>, Header, description = "Makes it safe to send the message again: one that is known under this key is answered as before and not taken twice. The last 1024 messages of a session are remembered. A key that came with another message is refused with 422. 1 to 128 visible ASCII characters"),
        By,
    ),
    responses((status = ACCEPTED, description = "It is written down", body = MessageAccepted), Problems)
)]
pub(super) async fn send(
    State(app): State<App>,
    Path(id): Path<SessionId>,
    by: By,
    headers: HeaderMap,
    LongJson(mut send): LongJson<SendMessageRequest, MESSAGE_BYTES_MAX>,
) -> Result<(StatusCode, Json<MessageAccepted>)> {
    send.author = by.or(send.author);
    let key = extract::idempotency_key(&headers)?;
    Ok((StatusCode::ACCEPTED, Json(app.sessions.send(&id, send, key).await?)))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct TranscriptQuery {
    /// The `nextCursor` of the page before; the first page if left out.
    #[param(pattern = "^[0-9]{1,32}$")]
    cursor: Option<String>,
    /// How many messages a page has at most.
    #[param(minimum = 1, maximum = 200, default = 200)]
    limit: Option<u32>,
}

/// Read the transcript: the messages that all events so far come to, the oldest first.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/messages", tag = "sessions",
    params(("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"), TranscriptQuery),
    responses((status = OK, body = TranscriptPage), Problems)
)]
pub(super) async fn transcript(
    State(app): State<App>,
    Path(id): Path<SessionId>,
    Query(query): Query<TranscriptQuery>,
) -> Result<Json<TranscriptPage>> {
    if query.limit.is_some_and(|limit| !(1..=200).contains(&limit)) {
        return Err(ApiError::new(ProblemKind::InvalidRequest, "`limit` must be between 1 and 200"));
    }
    let cursor = query.cursor.unwrap_or_default();
    if cursor.len() > CURSOR_BYTES_MAX || !cursor.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ApiError::new(
            ProblemKind::InvalidRequest,
            "`cursor` must be the `nextCursor` of a page",
        ));
    }
    let (items, next_cursor, seq) = app.sessions.messages(&id, cursor, query.limit).await?;
    Ok(Json(TranscriptPage { items, next_cursor, seq }))
}

/// List the messages that wait for their turn, in that order.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/inputs", tag = "sessions",
    params(("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session")),
    responses((status = OK, body = SessionInputList), Problems)
)]
pub(super) async fn inputs(
    State(app): State<App>,
    Path(id): Path<SessionId>,
) -> Result<Json<SessionInputList>> {
    Ok(Json(SessionInputList { items: app.sessions.inputs(&id).await?, next_cursor: None }))
}

/// Change what a message says while it waits for its turn.
#[utoipa::path(
    put, path = "/v1/sessions/{id}/inputs/{input_id}", tag = "sessions", request_body = EditInputRequest,
    params(
        ("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"),
        ("input_id" = String, Path, pattern = "^inp_[0-9a-f]{32}$", description = "The message"),
        By,
    ),
    responses((status = NO_CONTENT, description = "It says that now"), Problems)
)]
pub(super) async fn edit(
    State(app): State<App>,
    Path((id, input)): Path<(SessionId, InputId)>,
    by: By,
    LongJson(mut edit): LongJson<EditInputRequest, EDIT_BYTES_MAX>,
) -> Result<StatusCode> {
    edit.author = by.or(edit.author);
    app.sessions.edit(&id, input, edit).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Take a message back while it waits for its turn.
#[utoipa::path(
    delete, path = "/v1/sessions/{id}/inputs/{input_id}", tag = "sessions",
    params(
        ("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"),
        ("input_id" = String, Path, pattern = "^inp_[0-9a-f]{32}$", description = "The message"),
        By,
    ),
    responses((status = NO_CONTENT, description = "The agent will not see it"), Problems)
)]
pub(super) async fn withdraw(
    State(app): State<App>,
    Path((id, input)): Path<(SessionId, InputId)>,
    by: By,
) -> Result<StatusCode> {
    app.sessions.withdraw(&id, input, by.or(None)).await?;
    Ok(StatusCode::NO_CONTENT)
}
