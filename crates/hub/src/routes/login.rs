//! `/api/login`: browsers, which are let in by a cookie that no script can read.

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, header};
use hub_access::{BROWSER_SESSION_AGE, EffectiveRights, Principal, SessionCookie};
use protocol::{
    ProblemKind,
    people::{CallerIdentity, LoginRequest, LoginResponse, User},
};
use secrecy::ExposeSecret;
use server::{PeerAddress, ProblemResponse, Result, RouteCollector, extract, routes};

use super::{Problems, users::refused};
use crate::app::App;

/// The largest body of a login, which is read before it is known who sends it.
const BODY_BYTES_MAX: usize = 4 << 10;

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(login)).add(routes!(logout)).add(routes!(whoami));
}

/// Log a browser in: exchange a token's secret for a cookie.
///
/// The cookie lasts one day, but no longer than the token, and has the token's permissions.
#[utoipa::path(
    post, path = "/api/login", tag = "login", security(()), request_body = LoginRequest,
    responses((status = OK, body = LoginResponse, description = "Logged in; `Set-Cookie` carries the session cookie"), Problems)
)]
async fn login(
    State(app): State<App>,
    peer: Option<Extension<PeerAddress>>,
    headers: HeaderMap,
    extract::JsonUpTo(login): extract::JsonUpTo<LoginRequest, BODY_BYTES_MAX>,
) -> Result<Response> {
    let peer = peer.map(|Extension(peer)| peer);
    if headers.contains_key(header::ORIGIN) && !app.access.hosts.is_same_or_allowed_origin(&headers) {
        return Err(ProblemResponse::new(
            ProblemKind::HostNotAllowed,
            "logging in with a cookie is only possible from a page of this hub",
        ));
    }
    let found = app.access.users.find(&login.token);
    let found = found.or_else(|| app.access.adopt_recovered(&login.token, peer, "POST", "/api/login"));
    let theirs = found.ok_or_else(|| app.access.limits.unauthorized(peer))?;
    app.access.limits.count_request(theirs.token.id)?;
    let (rights, new) = app.access.users.log_in(&login.token).map_err(|error| refused(&error))?;
    let cookie = SessionCookie::for_request(&headers, peer);
    let page_key = cookie.page_key(&app.access.key, new.expose_secret());
    let cookie = cookie.set(new.expose_secret(), BROWSER_SESSION_AGE);
    let CallerIdentity { user, token } = who(&rights);
    let mut response = Json(LoginResponse { user, token, page_key }).into_response();
    response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    // So that the audit knows who it was.
    response.extensions_mut().insert(Principal::new(rights));
    Ok(response)
}

/// Log a browser out and invalidate its cookie.
#[utoipa::path(
    post, path = "/api/logout", tag = "login",
    responses((status = NO_CONTENT, description = "Logged out"), Problems)
)]
async fn logout(
    State(app): State<App>,
    peer: Option<Extension<PeerAddress>>,
    caller: Principal,
    headers: HeaderMap,
) -> Result<Response> {
    if !caller.rights.token.is_session {
        return Err(ProblemResponse::new(
            ProblemKind::InvalidRequest,
            "this request has no login cookie; revoke the token instead",
        ));
    }
    app.access.users.revoke(caller.token).map_err(|error| refused(&error))?;
    let cookie = SessionCookie::for_request(&headers, peer.map(|Extension(peer)| peer)).clear();
    let mut response = StatusCode::NO_CONTENT.into_response();
    response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    Ok(response)
}

/// Get the caller's user and permissions.
#[utoipa::path(get, path = "/api/whoami", tag = "login", responses((status = OK, body = CallerIdentity), Problems))]
async fn whoami(caller: Principal) -> Json<CallerIdentity> {
    Json(who(&caller.rights))
}

fn who(rights: &EffectiveRights) -> CallerIdentity {
    CallerIdentity { user: User::clone(&rights.user), token: (*rights.token).clone() }
}
