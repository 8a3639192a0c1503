//! `/api/tokens`: what lets people in. Everybody has their own; who manages the hub has all.

use axum::{Json, extract::State};
use http::StatusCode;
use protocol::{
    ProblemKind, TokenId, UserName,
    people::{AccessTokenList, CreateTokenRequest, TokenCreated},
};
use secrecy::ExposeSecret;
use serde::Deserialize;
use server::{
    ProblemResponse, Result, extract,
    extract::{Path, Query},
};
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{Problems, users::refused};
use crate::{app::App, caller::Caller, people::Error};

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, add)).routes(routes!(revoke))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// The user whose tokens to list. Defaults to the caller.
    #[param(value_type = Option<String>, pattern = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$")]
    user: Option<UserName>,
}

/// List the tokens of a user, oldest first. Secrets are never returned.
#[utoipa::path(get, path = "/api/tokens", tag = "tokens", params(ListQuery), responses((status = OK, body = AccessTokenList), Problems))]
async fn list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Json<AccessTokenList>> {
    let user = whose(&caller, query.user)?;
    let items = app.people.tokens(&user).map_err(|error| refused(&error))?;
    Ok(Json(AccessTokenList { items, next_cursor: None }))
}

/// Create a token. The response contains its secret, which is not shown again.
#[utoipa::path(
    post, path = "/api/tokens", tag = "tokens", request_body = CreateTokenRequest,
    responses((status = CREATED, body = TokenCreated), Problems)
)]
async fn add(
    State(app): State<App>,
    caller: Caller,
    extract::Json(mut add): extract::Json<CreateTokenRequest>,
) -> Result<(StatusCode, Json<TokenCreated>)> {
    let user = whose(&caller, add.user.take())?;
    // It could make one that may do more than itself.
    if caller.rights.token.scope.is_some() {
        return Err(ProblemResponse::new(ProblemKind::Forbidden, "a scoped token cannot create tokens"));
    }
    let (token, new) = app.people.add_token(&user, add).map_err(|error| refused(&error))?;
    Ok((StatusCode::CREATED, Json(TokenCreated { token, secret: new.expose_secret().to_owned() })))
}

/// Revoke a token. Open streams that use it are closed.
#[utoipa::path(
    delete, path = "/api/tokens/{token_id}", tag = "tokens",
    params(("token_id" = String, Path, pattern = "^tok_[0-9a-f]{32}$", description = "The token's id, not its secret")),
    responses((status = NO_CONTENT, description = "Token revoked"), Problems)
)]
async fn revoke(State(app): State<App>, caller: Caller, Path(id): Path<TokenId>) -> Result<StatusCode> {
    let token = app.people.token(id).map_err(|error| refused(&error))?;
    // One with a scope has only itself.
    let is_theirs = token.user == caller.user && (caller.rights.token.scope.is_none() || id == caller.token);
    if !is_theirs && !caller.is_admin() {
        return Err(refused(&Error::NoToken(id)));
    }
    app.people.revoke(id).map_err(|error| refused(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Whose tokens are meant, if the caller may have them.
fn whose(caller: &Caller, user: Option<UserName>) -> Result<UserName> {
    let user = user.unwrap_or_else(|| caller.user.clone());
    if user != caller.user && !caller.is_admin() {
        return Err(ProblemResponse::new(
            ProblemKind::Forbidden,
            "only a hub administrator may manage the tokens of other users",
        ));
    }
    Ok(user)
}
