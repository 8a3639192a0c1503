//! `/api/runtimes/{runtime_id}/v1/…`: what people ask of a runtime, passed on to it with the hub's own key.
//!
//! Bodies pass in both directions as they come, so that nothing is held here. Whoever speaks to a daemon speaks to the hub the
//! same way, with `/api/runtimes/{runtime_id}` before every route.

use axum::{
    Router,
    extract::{Request, State},
    response::Response,
    routing::any,
};
use http::{HeaderMap, HeaderName, Uri, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use protocol::{Kind, RuntimeId};
use server::{Refusal, Result, extract::Path};

use super::runtimes::find;
use crate::{Down, app::App};

/// What is written otherwise in a piece of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

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

pub(crate) fn router() -> Router<App> {
    Router::new().route("/api/runtimes/{runtime_id}/v1/{*path}", any(forward))
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
    let mut request = Request::new(body);
    *request.method_mut() = parts.method;
    *request.uri_mut() = route(&path, parts.uri.query())?;
    *request.headers_mut() = passed_on(parts.headers);
    let mut response = registered.runtime.send(request).await.map_err(|down| refused(&id, &down))?;
    let headers = std::mem::take(response.headers_mut());
    *response.headers_mut() = passed_on(headers);
    Ok(response)
}

/// The route of the runtime; each piece of the path is one there too.
fn route(path: &str, query: Option<&str>) -> Result<Uri> {
    let mut route = String::from("/v1");
    for segment in path.split('/') {
        if matches!(segment, "" | "." | "..") {
            return Err(Refusal::new(Kind::InvalidRequest, "each piece of the path must be a name"));
        }
        route.push('/');
        route.extend(utf8_percent_encode(segment, SEGMENT));
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
