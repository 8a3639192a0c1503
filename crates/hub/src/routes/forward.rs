//! `/api/runtimes/{runtime_id}/v1/…`: what people ask of a runtime, passed on to it with the hub's own key.
//!
//! Bodies pass in both directions as they come, so that nothing is held here, and so do the frames of WebSockets. Whoever
//! speaks to a daemon speaks to the hub the same way, with `/api/runtimes/{runtime_id}` before every route. What is done carries
//! the name of who asked. Who loses what it needed is cut off, whatever has come of it. Who does not see everything gets what can
//! be shown in part, and nothing else.

pub(super) mod partial;
mod raw_messages;
mod session;

use axum::{
    Extension, Router,
    body::Body,
    extract::{FromRequestParts, Request, State},
    response::Response,
    routing::any,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header, request::Parts};
use hub_access::{AccessRequest, FORWARDED_ROUTE, PermissionRevoked, Permit, Principal};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use protocol::{ProblemKind, RuntimeId};
use server::{
    ProblemResponse, Result, WebSocketUpgrade,
    extract::{AUTHOR, Path},
};

use super::runtimes::find;
use crate::{
    app::App,
    policy::Visibility,
    runtime::{ResponseLimit, refused},
    websocket_proxy::{self, UpgradeResponse},
};
use partial::Shape;

/// What is written otherwise in a piece of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What is said between two neighbours only, and who somebody is to the hub.
const NOT_PASSED_ON: [HeaderName; 18] = [
    AUTHOR,
    header::AUTHORIZATION,
    header::CONNECTION,
    header::COOKIE,
    header::HOST,
    HeaderName::from_static("keep-alive"),
    header::ORIGIN,
    header::PROXY_AUTHORIZATION,
    header::SEC_WEBSOCKET_ACCEPT,
    header::SEC_WEBSOCKET_EXTENSIONS,
    header::SEC_WEBSOCKET_KEY,
    header::SEC_WEBSOCKET_PROTOCOL,
    header::SEC_WEBSOCKET_VERSION,
    header::SET_COOKIE,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// The headers of a runtime's response that reach the client. Others could act in the name of the hub: forget its cookies,
/// redirect its pages, or open it to other sites.
const RESPONSE_HEADERS: [HeaderName; 17] = [
    header::ACCEPT_RANGES,
    HeaderName::from_static("acp-event-id"),
    header::ALLOW,
    header::CACHE_CONTROL,
    header::CONTENT_DISPOSITION,
    header::CONTENT_ENCODING,
    header::CONTENT_LANGUAGE,
    header::CONTENT_LENGTH,
    header::CONTENT_RANGE,
    header::CONTENT_TYPE,
    header::DATE,
    header::ETAG,
    header::LAST_MODIFIED,
    HeaderName::from_static("preference-applied"),
    header::RETRY_AFTER,
    header::VARY,
    HeaderName::from_static("x-accel-buffering"),
];

/// What a runtime answers, such as a file, is no page of ours: it runs nothing that could use the cookie of who looks at it.
const NO_PAGE: [(HeaderName, HeaderValue); 2] = [
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
];

pub(crate) fn router() -> Router<App> {
    Router::new().route(FORWARDED_ROUTE, any(forward))
}

async fn forward(
    State(app): State<App>,
    Path((id, _)): Path<(RuntimeId, String)>,
    Extension(asked): Extension<AccessRequest>,
    caller: Principal,
    permit: Permit,
    request: Request,
) -> Result<Response> {
    let registered = find(&app, &id)?;
    let (mut parts, body) = request.into_parts();
    if asked.rule.action.asks_agents() {
        session::check_directory(&app, &caller, &registered.workspace, &parts.uri)?;
    }
    let sight = caller.rights.visibility(&*app.access.policy.now(), &registered.workspace, &id);
    let (partly, permit) = match sight {
        Visibility::Full => (None, permit.seeing_everything()),
        Visibility::Redacted(lens) if lens.hides_content() => {
            (Some((shape(&mut parts, &asked.segments)?, lens)), permit)
        }
        Visibility::Redacted(lens) => {
            raw_messages::exclude(&mut parts)?;
            let description = description(&mut parts, &asked.segments)?;
            (description.map(|shape| (shape, lens)), permit.seeing_content())
        }
    };
    let upgrade = match parts.headers.contains_key(header::UPGRADE) {
        true => Some(socket(&mut parts, &id, &asked.segments).await?),
        false => None,
    };
    let mut request = Request::new(Body::empty());
    *request.method_mut() = parts.method;
    *request.uri_mut() = route(&asked.segments, parts.uri.query())?;
    *request.headers_mut() = said_by(&caller, parts.headers);
    let limit = ResponseLimit::for_request(
        (request.method(), &asked.segments, request.uri()),
        (app.response_timeout, app.stall),
    );
    request.extensions_mut().insert(limit);
    if let Some(upgrade) = upgrade {
        let connected = or_revoked(&permit, websocket_proxy::connect(&*registered.runtime, request)).await?;
        let runtime = match connected.map_err(|down| refused(&id, &down))? {
            UpgradeResponse::Open(socket) => socket,
            UpgradeResponse::Refused(response) => return Ok(answered(response, permit)),
        };
        let stop = app.stop.clone();
        let keep_alive = app.keep_alive;
        let serve = move |client| websocket_proxy::forward(client, runtime, keep_alive, stop, permit);
        return app.sockets.open(Ok(upgrade), websocket_proxy::MESSAGE_BYTES_MAX, serve);
    }
    let body = Body::from_stream(permit.clone().cut(body.into_data_stream()));
    let made = match &asked.worker {
        Some(session) if asked.rule.action.creates_session() => {
            let described = session::describe(&app, &caller, (&id, session), body).await?;
            *request.headers_mut() = session::headers(std::mem::take(request.headers_mut()));
            *request.body_mut() = described.body.into();
            described.environment
        }
        _ => {
            *request.body_mut() = body;
            None
        }
    };
    let response = or_revoked(&permit, registered.runtime.send(request)).await;
    let response = response?.map_err(|down| refused(&id, &down))?;
    let is_done = response.status().is_success();
    if let Some(environment) = made.filter(|_| is_done) {
        environment.keep();
    }
    if let Some(worker) = asked.worker {
        if asked.rule.action.drives() && is_done {
            app.presences.drove(&id, &worker, &caller.user);
        }
        // One that is not there is gone too: it may have been deleted when the answer was lost.
        if asked.rule.action.ends_session() && (is_done || response.status() == StatusCode::NOT_FOUND) {
            app.relay.end_session(&id, &worker);
        }
    }
    let response = match partly {
        None => response,
        Some((shape, lens)) => or_revoked(&permit, shape.show(&lens, response)).await??,
    };
    Ok(answered(response, permit))
}

/// What the answer will be for somebody who does not see everything, if it can be shown in part.
fn shape(parts: &mut Parts, pieces: &[String]) -> Result<Shape> {
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    let shape = Shape::of(&parts.method, &pieces, parts.uri.query());
    let shape = shape.ok_or_else(partial::refused)?;
    make_readable(parts)?;
    Ok(shape)
}

/// What the response will be if it describes sessions, for a caller who sees everything but absolute directories.
fn description(parts: &mut Parts, segments: &[String]) -> Result<Option<Shape>> {
    if !partial::describes_sessions(&parts.method, segments) {
        return Ok(None);
    }
    make_readable(parts)?;
    Ok(Some(Shape::Other))
}

/// Makes sure that the hub can read the response.
fn make_readable(parts: &mut Parts) -> Result<()> {
    // Nothing is known about messages on a WebSocket.
    if parts.headers.contains_key(header::UPGRADE) {
        return Err(partial::refused());
    }
    parts.headers.remove(header::ACCEPT_ENCODING);
    Ok(())
}

/// The WebSocket that they ask for. Nothing else is passed on in its place.
async fn socket(parts: &mut Parts, id: &RuntimeId, pieces: &[String]) -> Result<WebSocketUpgrade> {
    if let [workers, worker, events, ws] = pieces
        && [workers, events, ws] == ["workers", "events", "ws"]
    {
        let detail = format!("watch workers at `/api/runtimes/{id}/workers/{worker}/events/ws` instead");
        return Err(ProblemResponse::new(ProblemKind::NotFound, detail));
    }
    WebSocketUpgrade::from_request_parts(parts, &()).await
}

/// What comes of it, unless they lose what it needed before.
async fn or_revoked<T>(permit: &Permit, answer: impl Future<Output = T>) -> Result<T> {
    tokio::select! {
        answer = answer => Ok(answer),
        () = permit.clone().ended() => Err(ProblemResponse::new(ProblemKind::Forbidden, PermissionRevoked.to_string())),
    }
}

/// What a runtime answers, as they get it.
fn answered(response: Response, permit: Permit) -> Response {
    let (mut head, body) = response.into_parts();
    head.headers = allowed(&head.headers);
    head.headers.extend(NO_PAGE);
    Response::from_parts(head, Body::from_stream(permit.cut(body.into_data_stream())))
}

/// The route of the runtime; each piece of the path is one there too.
fn route(pieces: &[String], query: Option<&str>) -> Result<Uri> {
    let mut route = String::from("/v1");
    for piece in pieces {
        if matches!(piece.as_str(), "" | "." | "..") {
            return Err(ProblemResponse::new(ProblemKind::InvalidRequest, "a path segment is invalid"));
        }
        route.push('/');
        route.extend(utf8_percent_encode(piece, SEGMENT));
    }
    if let Some(query) = query {
        route = route + "?" + query;
    }
    route
        .parse()
        .map_err(|_| ProblemResponse::new(ProblemKind::InvalidRequest, "the path or the query is too long"))
}

/// The headers of a request as the runtime gets them: what is done is done by who asks, whatever they say.
fn said_by(caller: &Principal, headers: HeaderMap) -> HeaderMap {
    let mut headers = passed_on(headers);
    // The name of a user is a value that a header can carry.
    if let Ok(user) = HeaderValue::from_str(caller.user.as_str()) {
        headers.insert(AUTHOR, user);
    }
    headers
}

/// The headers of a runtime's response that are in [`RESPONSE_HEADERS`].
fn allowed(headers: &HeaderMap) -> HeaderMap {
    let mut kept = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        if RESPONSE_HEADERS.contains(name) {
            kept.append(name, value.clone());
        }
    }
    kept
}

fn passed_on(mut headers: HeaderMap) -> HeaderMap {
    for name in NOT_PASSED_ON {
        headers.remove(name);
    }
    headers
}
