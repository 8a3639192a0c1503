//! `/api/runtimes/{runtime_id}/v1/…`: what people ask of a runtime, passed on to it with the hub's own key.
//!
//! Bodies pass in both directions as they come, so that nothing is held here. Whoever speaks to a daemon speaks to the hub the
//! same way, with `/api/runtimes/{runtime_id}` before every route. Who loses what it needed is cut off, whatever has come of it.

use axum::{
    Extension, Router,
    body::Body,
    extract::{Request, State},
    response::Response,
    routing::any,
};
use http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use protocol::{Kind, RuntimeId};
use server::{Refusal, Result, extract::Path};

use super::runtimes::find;
use crate::{
    Down,
    app::App,
    guard::Asked,
    permit::{Permit, Revoked},
    verb,
};

/// What is written otherwise in a piece of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What is said between two neighbours only, and who somebody is to the hub.
const NOT_PASSED_ON: [HeaderName; 12] = [
    header::AUTHORIZATION,
    header::CONNECTION,
    header::COOKIE,
    header::HOST,
    HeaderName::from_static("keep-alive"),
    header::ORIGIN,
    header::PROXY_AUTHORIZATION,
    header::SET_COOKIE,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// What a runtime answers, such as a file, is no page of ours: it runs nothing that could use the cookie of who looks at it.
const NO_PAGE: [(HeaderName, HeaderValue); 2] = [
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
];

pub(crate) fn router() -> Router<App> {
    Router::new().route(verb::FORWARD, any(forward))
}

async fn forward(
    State(app): State<App>,
    Path((id, _)): Path<(RuntimeId, String)>,
    Extension(asked): Extension<Asked>,
    permit: Permit,
    request: Request,
) -> Result<Response> {
    let registered = find(&app, &id)?;
    let (parts, body) = request.into_parts();
    if parts.headers.contains_key(header::UPGRADE) {
        return Err(Refusal::new(Kind::UnsupportedFeature, "a WebSocket is not passed on to a runtime"));
    }
    let mut request = Request::new(Body::from_stream(permit.clone().cut(body.into_data_stream())));
    *request.method_mut() = parts.method;
    *request.uri_mut() = route(&asked.pieces, parts.uri.query())?;
    *request.headers_mut() = passed_on(parts.headers);
    let response = tokio::select! {
        response = registered.runtime.send(request) => response.map_err(|down| refused(&id, &down))?,
        () = permit.clone().ended() => return Err(Refusal::new(Kind::Forbidden, Revoked.to_string())),
    };
    let (mut head, body) = response.into_parts();
    head.headers = passed_on(head.headers);
    head.headers.extend(NO_PAGE);
    Ok(Response::from_parts(head, Body::from_stream(permit.cut(body.into_data_stream()))))
}

/// The route of the runtime; each piece of the path is one there too.
fn route(pieces: &[String], query: Option<&str>) -> Result<Uri> {
    let mut route = String::from("/v1");
    for piece in pieces {
        if matches!(piece.as_str(), "" | "." | "..") {
            return Err(Refusal::new(Kind::InvalidRequest, "each piece of the path must be a name"));
        }
        route.push('/');
        route.extend(utf8_percent_encode(piece, SEGMENT));
    }
    if let Some(query) = query {
        route = route + "?" + query;
    }
    route.parse().map_err(|_| Refusal::new(Kind::InvalidRequest, "the path or the query is too long"))
}

/// Why a runtime did not answer, without where it is.
fn refused(id: &RuntimeId, down: &Down) -> Refusal {
    match down {
        Down::Busy => Refusal::new(Kind::TooManyConnections, format!("too much is asked of `{id}` already")),
        Down::NoWorker | Down::Unreachable | Down::Malformed => {
            Refusal::new(Kind::RuntimeUnavailable, format!("the runtime `{id}` cannot be reached"))
        }
    }
}

fn passed_on(mut headers: HeaderMap) -> HeaderMap {
    for name in NOT_PASSED_ON {
        headers.remove(name);
    }
    headers
}
