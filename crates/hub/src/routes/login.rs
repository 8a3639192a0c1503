//! `/api/login`: browsers, which are let in by a cookie that no script can read.

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, header};
use protocol::{
    Kind,
    people::{Login, User, WhoAmI},
};
use server::{Peer, Refusal, Result, extract};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{Problems, users::refused};
use crate::{
    app::App,
    caller::{Caller, Rights},
    cookie::Cookie,
    people::SESSION,
};

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(login)).routes(routes!(logout)).routes(routes!(whoami))
}

/// Let a browser in: whoever has the secret of a token gets a cookie in exchange.
///
/// The cookie is good for a day, for as long as the token is, and for what the token is for.
#[utoipa::path(
    post, path = "/api/login", tag = "login", security(()), request_body = Login,
    responses((status = OK, body = WhoAmI, description = "`Set-Cookie` has the cookie"), Problems)
)]
async fn login(
    State(app): State<App>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    extract::Json(login): extract::Json<Login>,
) -> Result<Response> {
    let peer = peer.map(|Extension(peer)| peer);
    if headers.contains_key(header::ORIGIN) && !app.names.is_ours(&headers) {
        return Err(Refusal::new(Kind::HostNotAllowed, "only a page of ours lets a browser in"));
    }
    let theirs = app.people.find(&login.token).ok_or_else(|| app.limits.not_let_in(peer))?;
    app.limits.spend(theirs.token.id)?;
    let (rights, new) = app.people.log_in(&login.token).map_err(|error| refused(&error))?;
    let cookie = Cookie::for_request(&headers, peer).set(new.reveal(), SESSION);
    let mut response = Json(who(&rights)).into_response();
    response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    // So that the audit knows who it was.
    response.extensions_mut().insert(Caller::new(rights));
    Ok(response)
}

/// Let a browser in no longer; its cookie is no good any more.
#[utoipa::path(
    post, path = "/api/logout", tag = "login",
    responses((status = NO_CONTENT, description = "It is not let in any more"), Problems)
)]
async fn logout(
    State(app): State<App>,
    peer: Option<Extension<Peer>>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response> {
    if !caller.rights.token.is_session {
        return Err(Refusal::new(Kind::InvalidRequest, "only a browser logs out; a token is revoked"));
    }
    app.people.revoke(caller.token).map_err(|error| refused(&error))?;
    let cookie = Cookie::for_request(&headers, peer.map(|Extension(peer)| peer)).clear();
    let mut response = StatusCode::NO_CONTENT.into_response();
    response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    Ok(response)
}

/// Say who asks, and what they may do.
#[utoipa::path(get, path = "/api/whoami", tag = "login", responses((status = OK, body = WhoAmI), Problems))]
async fn whoami(caller: Caller) -> Json<WhoAmI> {
    Json(who(&caller.rights))
}

fn who(rights: &Rights) -> WhoAmI {
    WhoAmI { user: User::clone(&rights.user), token: (*rights.token).clone() }
}
