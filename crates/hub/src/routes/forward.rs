//! `/api/runtimes/{runtime_id}/v1/…`: what people ask of a runtime, passed on to it with the hub's own key.
//!
//! Bodies pass in both directions as they come, so that nothing is held here. Whoever speaks to a daemon speaks to the hub the
//! same way, with `/api/runtimes/{runtime_id}` before every route.

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::any,
};
use client::Forwarded;
use http::{HeaderMap, HeaderName, header};
use protocol::{Kind, RuntimeId};
use server::{Refusal, Result, extract::Path};
use tracing::{Instrument, debug, info_span};

use super::runtimes::find;
use crate::app::App;

/// What is said between two neighbours only, and who somebody is to the hub.
const NOT_PASSED_ON: [HeaderName; 11] = [
    header::AUTHORIZATION,
    header::CONNECTION,
    header::COOKIE,
    header::HOST,
    HeaderName::from_static("keep-alive"),
    header::ORIGIN,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Everything of a runtime.
pub(crate) const PATH: &str = "/api/runtimes/{runtime_id}/v1/{*path}";

pub(crate) fn router() -> Router<App> {
    Router::new().route(PATH, any(forward))
}

async fn forward(
    State(app): State<App>,
    Path((id, path)): Path<(RuntimeId, String)>,
    request: Request,
) -> Result<Response> {
    let registered = find(&app, &id)?;
    let (parts, body) = request.into_parts();
    if parts.headers.contains_key(header::UPGRADE) {
        return Err(Refusal::new(Kind::UnsupportedFeature, "a WebSocket is not passed on to a runtime"));
    }
    let segments: Vec<&str> = path.split('/').collect();
    if segments.iter().any(|segment| matches!(*segment, "" | "." | "..")) {
        return Err(Refusal::new(Kind::InvalidRequest, "each piece of the path must be a name"));
    }
    let span = info_span!("forward", runtime = %id, otel.kind = "client");
    let mut headers = passed_on(parts.headers);
    telemetry::pass_on(&span, &mut headers);
    let forwarded = Forwarded {
        method: parts.method,
        segments: [&["v1"], &segments[..]].concat(),
        query: parts.uri.query(),
        headers,
    };
    let answer = registered.client.forward(forwarded, body.into_data_stream()).instrument(span).await;
    registered.reach.note(answer.is_ok());
    let (head, body) = answer.map_err(|error| {
        debug!(runtime = %id, error = %server::Chain(&error), "a request was not passed on");
        Refusal::new(Kind::RuntimeUnavailable, format!("the runtime `{id}` cannot be reached"))
    })?;
    let mut response = Body::from_stream(body).into_response();
    *response.status_mut() = head.status;
    *response.headers_mut() = passed_on(head.headers);
    Ok(response)
}

fn passed_on(mut headers: HeaderMap) -> HeaderMap {
    for name in NOT_PASSED_ON {
        headers.remove(name);
    }
    headers
}
