//! Answers to the questions and permission requests of agents.

use axum::extract::State;
use http::StatusCode;
use protocol::{
    SessionId, WaitId,
    sessions::{AnswerPermissionRequest, AnswerQuestionRequest, RejectQuestionRequest},
};
use server::extract::{self, AuthorHeader, OptionalJson, Path};

use crate::{api_error::Result, app::App, routes::Problems};

/// Answer a question, or approve a plan. The first answer wins.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/questions/{question_id}/reply", tag = "sessions", request_body = AnswerQuestionRequest,
    params(
        ("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"),
        ("question_id" = String, Path, pattern = "^wat_[0-9a-f]{32}$", description = "The question"),
        AuthorHeader,
    ),
    responses((status = NO_CONTENT, description = "The answer is delivered to the agent"), Problems)
)]
pub(super) async fn reply(
    State(app): State<App>,
    Path((id, question)): Path<(SessionId, WaitId)>,
    author_header: AuthorHeader,
    extract::Json(mut reply): extract::Json<AnswerQuestionRequest>,
) -> Result<StatusCode> {
    reply.author = author_header.or_body_author(reply.author);
    app.sessions.answer(&id, question, reply).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Decline to answer a question.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/questions/{question_id}/reject", tag = "sessions", request_body = Option<RejectQuestionRequest>,
    params(
        ("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"),
        ("question_id" = String, Path, pattern = "^wat_[0-9a-f]{32}$", description = "The question"),
        AuthorHeader,
    ),
    responses((status = NO_CONTENT, description = "The answer is delivered to the agent"), Problems)
)]
pub(super) async fn reject(
    State(app): State<App>,
    Path((id, question)): Path<(SessionId, WaitId)>,
    author_header: AuthorHeader,
    OptionalJson(rejection): OptionalJson<RejectQuestionRequest>,
) -> Result<StatusCode> {
    app.sessions.reject(&id, question, author_header.or_body_author(rejection.author)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Answer a permission. The first answer wins.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/permissions/{permission_id}/reply", tag = "sessions", request_body = AnswerPermissionRequest,
    params(
        ("id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The session"),
        ("permission_id" = String, Path, pattern = "^wat_[0-9a-f]{32}$", description = "The permission"),
        AuthorHeader,
    ),
    responses((status = NO_CONTENT, description = "The answer is delivered to the agent"), Problems)
)]
pub(super) async fn permit(
    State(app): State<App>,
    Path((id, permission)): Path<(SessionId, WaitId)>,
    author_header: AuthorHeader,
    extract::Json(mut reply): extract::Json<AnswerPermissionRequest>,
) -> Result<StatusCode> {
    reply.author = author_header.or_body_author(reply.author);
    app.sessions.permit(&id, permission, reply).await?;
    Ok(StatusCode::NO_CONTENT)
}
