//! A WebSocket in a tunnel: HTTP/2 has no `Upgrade`, it has the extended `CONNECT` (RFC 8441).
//!
//! Both ends speak HTTP/1.1 to those behind them, so the key and its answer pass as they are.

use axum::body::Body;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version, header};
use hyper::ext::Protocol;

const WEBSOCKET: &str = "websocket";

/// Turns a request for a WebSocket into one that HTTP/2 knows; whether it was one.
pub(crate) fn enter(request: &mut Request<Body>) -> bool {
    let upgrade = request.headers().get(header::UPGRADE);
    if !upgrade.is_some_and(|upgrade| upgrade.as_bytes().eq_ignore_ascii_case(WEBSOCKET.as_bytes())) {
        return false;
    }
    *request.method_mut() = Method::CONNECT;
    request.extensions_mut().insert(Protocol::from_static(WEBSOCKET));
    forget_upgrade(request.headers_mut());
    true
}

/// Turns it back; whether it was one.
pub(crate) fn leave(request: &mut Request<Body>) -> bool {
    let protocol = request.extensions_mut().remove::<Protocol>();
    if request.method() != Method::CONNECT || protocol.is_none_or(|protocol| protocol.as_str() != WEBSOCKET) {
        return false;
    }
    *request.method_mut() = Method::GET;
    *request.version_mut() = Version::HTTP_11;
    say_upgrade(request.headers_mut());
    true
}

/// Turns the answer into one that HTTP/2 knows.
pub(crate) fn answer(mut response: Response<Body>) -> Response<Body> {
    match response.status() {
        StatusCode::SWITCHING_PROTOCOLS => {
            *response.status_mut() = StatusCode::OK;
            forget_upgrade(response.headers_mut());
        }
        // There it would be taken for a WebSocket.
        status if status.is_success() => {
            response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::UPGRADE_REQUIRED;
        }
        _ => {}
    }
    response
}

/// Turns it back.
pub(crate) fn answered(response: &mut Response<Body>) {
    if response.status() == StatusCode::OK {
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        say_upgrade(response.headers_mut());
    }
}

fn say_upgrade(headers: &mut HeaderMap) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static(WEBSOCKET));
}

fn forget_upgrade(headers: &mut HeaderMap) {
    headers.remove(header::CONNECTION);
    headers.remove(header::UPGRADE);
}
