//! `/api/runtimes/{runtime_id}/v1/…`: what people ask of a runtime, passed on to it with the hub's own key.
//!
//! Bodies pass in both directions as they come, so that nothing is held here. Whoever speaks to a daemon speaks to the hub the
//! same way, with `/api/runtimes/{runtime_id}` before every route. Who loses what it needed is cut off, whatever has come of it.

use axum::{
    Extension, Router,
    body::Body,
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::any,
};
use client::Forwarded;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use protocol::{Kind, RuntimeId};
use server::{Refusal, Result, extract::Path};
use tracing::debug;

use super::runtimes::find;
use crate::{
    app::App,
    guard::Asked,
    permit::{Permit, Revoked},
    verb,
};

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
    if asked.pieces.iter().any(|piece| matches!(piece.as_str(), "" | "." | "..")) {
        return Err(Refusal::new(Kind::InvalidRequest, "each piece of the path must be a name"));
    }
    let forwarded = Forwarded {
        method: parts.method,
        segments: ["v1"].into_iter().chain(asked.pieces.iter().map(String::as_str)).collect(),
        query: parts.uri.query(),
        headers: passed_on(parts.headers),
    };
    let body = permit.clone().cut(body.into_data_stream());
    let answer = tokio::select! {
        answer = registered.client.forward(forwarded, body) => answer,
        () = permit.clone().ended() => return Err(Refusal::new(Kind::Forbidden, Revoked.to_string())),
    };
    let (head, body) = answer.map_err(|error| {
        debug!(runtime = %id, error = %server::Chain(&error), "a request was not passed on");
        Refusal::new(Kind::RuntimeUnavailable, format!("the runtime `{id}` cannot be reached"))
    })?;
    let mut response = Body::from_stream(permit.cut(body)).into_response();
    *response.status_mut() = head.status;
    *response.headers_mut() = passed_on(head.headers);
    response.headers_mut().extend(NO_PAGE);
    Ok(response)
}

fn passed_on(mut headers: HeaderMap) -> HeaderMap {
    for name in NOT_PASSED_ON {
        headers.remove(name);
    }
    headers
}
