//! WebSockets in a tunnel: HTTP/2 has the extended `CONNECT` (RFC 8441) instead of `Upgrade`.
//!
//! On both sides the request is an HTTP/1.1 upgrade. The key and its answer pass through unchanged, so that the client of the
//! WebSocket can verify them.

use axum::body::Body;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version, header};
use hyper::ext::Protocol;

const WEBSOCKET: &str = "websocket";

/// Converts an upgrade request to an extended `CONNECT`; returns whether it was one.
pub(crate) fn upgrade_to_connect(request: &mut Request<Body>) -> bool {
    let upgrade = request.headers().get(header::UPGRADE);
    if !upgrade.is_some_and(|upgrade| upgrade.as_bytes().eq_ignore_ascii_case(WEBSOCKET.as_bytes())) {
        return false;
    }
    *request.method_mut() = Method::CONNECT;
    request.extensions_mut().insert(Protocol::from_static(WEBSOCKET));
    remove_upgrade_headers(request.headers_mut());
    true
}

/// Converts an extended `CONNECT` back to an upgrade request; returns whether it was one.
pub(crate) fn connect_to_upgrade(request: &mut Request<Body>) -> bool {
    let protocol = request.extensions_mut().remove::<Protocol>();
    if request.method() != Method::CONNECT || protocol.is_none_or(|protocol| protocol.as_str() != WEBSOCKET) {
        return false;
    }
    *request.method_mut() = Method::GET;
    *request.version_mut() = Version::HTTP_11;
    add_upgrade_headers(request.headers_mut());
    true
}

/// Converts the response to an upgrade request: `101` becomes `200`, which accepts an extended `CONNECT`.
pub(crate) fn upgrade_response_to_connect(mut response: Response<Body>) -> Response<Body> {
    match response.status() {
        StatusCode::SWITCHING_PROTOCOLS => {
            *response.status_mut() = StatusCode::OK;
            remove_upgrade_headers(response.headers_mut());
        }
        // The service answered without upgrading. On the other side a `2xx` would count as an accepted WebSocket.
        status if status.is_success() => {
            response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::UPGRADE_REQUIRED;
        }
        _ => {}
    }
    response
}

/// Converts the response back: `200` becomes `101`.
pub(crate) fn connect_response_to_upgrade(response: &mut Response<Body>) {
    if response.status() == StatusCode::OK {
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        add_upgrade_headers(response.headers_mut());
    }
}

fn add_upgrade_headers(headers: &mut HeaderMap) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static(WEBSOCKET));
}

fn remove_upgrade_headers(headers: &mut HeaderMap) {
    headers.remove(header::CONNECTION);
    headers.remove(header::UPGRADE);
}
