//! `/api/runtimes/{runtime_id}/v1/…`: what people ask of a runtime, passed on to it with the hub's own key.
//!
//! Bodies pass in both directions as they come, so that nothing is held here, and so do the frames of WebSockets. Whoever
//! speaks to a daemon speaks to the hub the same way, with `/api/runtimes/{runtime_id}` before every route. What is done
//! carries the name of who asked.

use axum::{
    Router,
    body::Body,
    extract::{FromRequestParts, Request, State, ws::WebSocketUpgrade},
    response::{IntoResponse, Response},
    routing::any,
};
use client::Forwarded;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use protocol::{Kind, RuntimeId, SessionId};
use server::{
    Refusal, Result,
    extract::{AUTHOR, Path},
    observed::Patience,
};

use super::runtimes::find;
use crate::{app::App, caller::Caller, passage, runtime::refused};

/// What is said between two neighbours only, and who somebody is to the hub.
const NOT_PASSED_ON: [HeaderName; 17] = [
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
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

pub(crate) fn router() -> Router<App> {
    Router::new().route("/api/runtimes/{runtime_id}/v1/{*path}", any(forward))
}

async fn forward(
    State(app): State<App>,
    caller: Caller,
    Path((id, path)): Path<(RuntimeId, String)>,
    request: Request,
) -> Result<Response> {
    let registered = find(&app, &id)?;
    let segments: Vec<&str> = path.split('/').collect();
    if segments.iter().any(|segment| matches!(*segment, "" | "." | "..")) {
        return Err(Refusal::new(Kind::InvalidRequest, "each piece of the path must be a name"));
    }
    if let ["workers", worker, "events", "ws"] = segments[..] {
        let detail = format!("workers are watched at `/api/runtimes/{id}/workers/{worker}/events/ws`");
        return Err(Refusal::new(Kind::NotFound, detail));
    }
    let (mut parts, body) = request.into_parts();
    let forwarded = Forwarded {
        method: parts.method.clone(),
        segments: [&["v1"], &segments[..]].concat(),
        query: parts.uri.query(),
        headers: said_by(&caller, parts.headers.clone()),
    };
    if parts.headers.contains_key(header::UPGRADE) {
        let ends = registered.client.forward_socket(forwarded).await.map_err(|error| refused(&id, &error))?;
        let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await;
        let stop = app.stop.clone();
        let serve = move |socket| passage::pass(socket, ends, Patience::default(), stop);
        return app.sockets.open(upgrade, passage::MESSAGE_BYTES_MAX, serve);
    }
    let answer = registered.client.forward(forwarded, body.into_data_stream()).await;
    let (head, body) = answer.map_err(|error| refused(&id, &error))?;
    if let Some(worker) = driven(&parts.method, &segments).filter(|_| head.status.is_success()) {
        app.presences.drove(&id, &worker, &caller.user);
    }
    let mut response = Body::from_stream(body).into_response();
    *response.status_mut() = head.status;
    *response.headers_mut() = passed_on(head.headers);
    Ok(response)
}

/// The worker that somebody drives with a request: they send, change, answer or cancel something.
fn driven(method: &Method, segments: &[&str]) -> Option<SessionId> {
    match segments {
        ["sessions", id, "messages" | "inputs" | "questions" | "permissions" | "cancel", ..]
            if *method != Method::GET =>
        {
            id.parse().ok()
        }
        _ => None,
    }
}

/// The headers of a request as the runtime gets them: what is done is done by who asks, whatever they say.
fn said_by(caller: &Caller, headers: HeaderMap) -> HeaderMap {
    let mut headers = passed_on(headers);
    // The name of a user is a value that a header can carry.
    if let Ok(user) = HeaderValue::from_str(caller.user.as_str()) {
        headers.insert(AUTHOR, user);
    }
    headers
}

fn passed_on(mut headers: HeaderMap) -> HeaderMap {
    for name in NOT_PASSED_ON {
        headers.remove(name);
    }
    headers
}
