//! `/api/tokens`: what lets people in. Everybody has their own; who manages the hub has all.

use axum::{Extension, Json, extract::State};
use http::StatusCode;
use hub_access::{AuthorizedJson, AuthorizedQuery, EffectiveRights, NamesSubject, Principal, RequestSubject};
use jiff::Timestamp;
use protocol::{
    ProblemKind, TokenId, UserName,
    people::{AccessTokenList, CreateTokenRequest, TokenCreated},
};
use secrecy::ExposeSecret;
use serde::Deserialize;
use server::{PeerAddress, ProblemResponse, Result, RouteCollector, extract::Path, routes};
use utoipa::IntoParams;

use super::{Problems, users::refused};
use crate::app::App;

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(list, add)).add(routes!(revoke));
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// The user whose tokens to list. Defaults to the caller.
    #[param(value_type = Option<String>, pattern = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$")]
    user: Option<UserName>,
}

impl NamesSubject for ListQuery {
    fn subject(&self) -> RequestSubject<'_> {
        RequestSubject::User(self.user.as_ref())
    }
}

/// List the tokens of a user, oldest first. Secrets are never returned.
#[utoipa::path(get, path = "/api/tokens", tag = "tokens", params(ListQuery), responses((status = OK, body = AccessTokenList), Problems))]
async fn list(
    State(app): State<App>,
    caller: Principal,
    AuthorizedQuery(query): AuthorizedQuery<ListQuery>,
) -> Result<Json<AccessTokenList>> {
    let user = query.user.unwrap_or(caller.user);
    let items = app.access.users.tokens(&user).map_err(|error| refused(&error))?;
    Ok(Json(AccessTokenList { items, next_cursor: None }))
}

/// Create a token. The response contains its secret, which is not shown again.
#[utoipa::path(
    post, path = "/api/tokens", tag = "tokens", request_body = CreateTokenRequest,
    responses((status = CREATED, body = TokenCreated), Problems)
)]
async fn add(
    State(app): State<App>,
    caller: Principal,
    peer: Option<Extension<PeerAddress>>,
    AuthorizedJson(mut add): AuthorizedJson<CreateTokenRequest>,
) -> Result<(StatusCode, Json<TokenCreated>)> {
    let user = add.user.take().unwrap_or_else(|| caller.user.clone());
    let creator = match caller.rights.token.is_session {
        true => reauthenticated(&app, &caller, add.current_token.take(), peer)?,
        false => caller.rights.clone(),
    };
    add.expires_at = expiry(creator.token.expires_at, add.expires_at)?;
    let (token, new) = app.access.users.add_token(&user, add).map_err(|error| refused(&error))?;
    Ok((StatusCode::CREATED, Json(TokenCreated { token, secret: new.expose_secret().to_owned() })))
}

/// The token that the user of a browser session has besides its cookie. Somebody who only has the cookie, perhaps for a
/// moment, cannot make an access of their own out of it.
fn reauthenticated(
    app: &App,
    caller: &Principal,
    secret: Option<String>,
    peer: Option<Extension<PeerAddress>>,
) -> Result<EffectiveRights> {
    let Some(secret) = secret else {
        return Err(ProblemResponse::new(
            ProblemKind::Forbidden,
            "creating a token from a browser needs `currentToken`, the secret of one of your tokens",
        ));
    };
    let found = app.access.users.find(&secret);
    let found = found.filter(|rights| {
        rights.user.name == caller.user && !rights.token.is_session && rights.token.scope.is_none()
    });
    found.ok_or_else(|| app.access.limits.unauthorized(peer.map(|Extension(peer)| peer)))
}

/// When a token expires, so that it does not outlive the one that creates it.
fn expiry(creator: Option<Timestamp>, asked: Option<Timestamp>) -> Result<Option<Timestamp>> {
    match (creator, asked) {
        (Some(creator), Some(asked)) if asked > creator => Err(ProblemResponse::new(
            ProblemKind::InvalidRequest,
            format!("`expiresAt` must not be after {creator}, when the token that creates it expires"),
        )),
        (creator, asked) => Ok(asked.or(creator)),
    }
}

/// Revoke a token. Open streams that use it are closed.
#[utoipa::path(
    delete, path = "/api/tokens/{token_id}", tag = "tokens",
    params(("token_id" = String, Path, pattern = "^tok_[0-9a-f]{32}$", description = "The token's id, not its secret")),
    responses((status = NO_CONTENT, description = "Token revoked"), Problems)
)]
async fn revoke(State(app): State<App>, Path(id): Path<TokenId>) -> Result<StatusCode> {
    app.access.users.revoke(id).map_err(|error| refused(&error))?;
    Ok(StatusCode::NO_CONTENT)
}
