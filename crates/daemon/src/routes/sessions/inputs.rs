//! Sends messages to a session, and reads its transcript.

use axum::{Json, extract::State};
use http::{HeaderMap, StatusCode};
use protocol::{
    InputId, ProblemKind, SessionId,
    sessions::{EditInputRequest, MessageAccepted, SendMessageRequest, SessionInputList, TranscriptPage},
};
use serde::Deserialize;
use server::extract::{self, AuthorHeader, JsonUpTo, Path, Query};
use utoipa::IntoParams;
use worker_runtime::PAGE_MESSAGES_MAX;

use crate::{
    api_error::{ApiError, Result},
    app::App,
    routes::Problems,
};

/// The largest message with its attachments, enough for a few images.
const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// The largest replacement for a queued message.
const EDIT_BYTES_MAX: usize = MESSAGE_BYTES_MAX;

/// The longest cursor. Cursors are numbers with leading zeros.
const CURSOR_BYTES_MAX: usize = 32;

/// Send a message. The response is sent once the message is stored. `whenBusy` decides what happens during a turn.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/messages", tag = "sessions", request_body = SendMessageRequest,
    params(
        ("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"),
        ("idempotency-key" = Option<String>, Header, pattern = "^[!-~]{1,128}$", description = "Makes retries safe: a message that was accepted under this key gets the same response and is not accepted twice. A session remembers its last 1024 messages. A key that was used with another message is rejected with 422. 1 to 128 visible ASCII characters"),
        AuthorHeader,
    ),
    responses((status = ACCEPTED, description = "The message is stored", body = MessageAccepted), Problems)
)]
pub(super) async fn send(
    State(app): State<App>,
    Path(id): Path<SessionId>,
    author_header: AuthorHeader,
    headers: HeaderMap,
    JsonUpTo(mut send): JsonUpTo<SendMessageRequest, MESSAGE_BYTES_MAX>,
) -> Result<(StatusCode, Json<MessageAccepted>)> {
    send.author = author_header.or_body_author(send.author);
    let key = extract::idempotency_key(&headers)?;
    Ok((StatusCode::ACCEPTED, Json(app.sessions.send(&id, send, key).await?)))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct TranscriptQuery {
    /// The `nextCursor` of the previous page; the first page if left out.
    #[param(pattern = "^[0-9]{1,32}$")]
    cursor: Option<String>,
    /// The maximum number of messages in the page.
    #[param(minimum = 1, maximum = 200, default = 200)]
    limit: Option<u32>,
}

/// Read the transcript: the messages of the session, the oldest first.
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
    if query.limit.is_some_and(|limit| !(1..=PAGE_MESSAGES_MAX).contains(&limit)) {
        return Err(ApiError::new(
            ProblemKind::InvalidRequest,
            format!("`limit` must be between 1 and {PAGE_MESSAGES_MAX}"),
        ));
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

/// List the queued messages, in the order of their turns.
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

/// Replace the content of a queued message.
#[utoipa::path(
    put, path = "/v1/sessions/{id}/inputs/{input_id}", tag = "sessions", request_body = EditInputRequest,
    params(
        ("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"),
        ("input_id" = String, Path, pattern = "^inp_[0-9a-f]{32}$", description = "The message"),
        AuthorHeader,
    ),
    responses((status = NO_CONTENT, description = "The message was replaced"), Problems)
)]
pub(super) async fn edit(
    State(app): State<App>,
    Path((id, input)): Path<(SessionId, InputId)>,
    author_header: AuthorHeader,
    JsonUpTo(mut edit): JsonUpTo<EditInputRequest, EDIT_BYTES_MAX>,
) -> Result<StatusCode> {
    edit.author = author_header.or_body_author(edit.author);
    app.sessions.edit(&id, input, edit).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Withdraw a queued message.
#[utoipa::path(
    delete, path = "/v1/sessions/{id}/inputs/{input_id}", tag = "sessions",
    params(
        ("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"),
        ("input_id" = String, Path, pattern = "^inp_[0-9a-f]{32}$", description = "The message"),
        AuthorHeader,
    ),
    responses((status = NO_CONTENT, description = "Withdrawn"), Problems)
)]
pub(super) async fn withdraw(
    State(app): State<App>,
    Path((id, input)): Path<(SessionId, InputId)>,
    author_header: AuthorHeader,
) -> Result<StatusCode> {
    app.sessions.withdraw(&id, input, author_header.or_body_author(None)).await?;
    Ok(StatusCode::NO_CONTENT)
}
