//! Extractors whose rejections are problem documents that name the invalid field.

use std::time::Duration;

use axum::extract::{FromRef, FromRequest, FromRequestParts, Request, rejection::PathRejection};
use http::{HeaderMap, HeaderName, header, request::Parts};
use protocol::{Author, IdempotencyKey, JsonObject, ProblemKind};
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use crate::{ProblemResponse, Result, request_body};

/// The largest JSON body, except for routes that use [`JsonUpTo`].
const JSON_BYTES_MAX: usize = 1 << 20;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The author of a request. A proxy that forwards requests of its users sets it.
pub const AUTHOR: HeaderName = HeaderName::from_static("tombolo-author");
/// The media ranges that include server-sent events.
const EVENT_STREAM_RANGES: [&str; 3] = ["text/event-stream", "text/*", "*/*"];

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How long a client may send nothing before its request fails. Part of the state of every router with request bodies.
#[derive(Debug, Clone, Copy)]
pub struct StallTimeout(pub Duration);

/// The parameters in the path.
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(PathRejection::FailedToDeserializePathParams(error)) => {
                Err(ProblemResponse::new(ProblemKind::InvalidRequest, error.body_text()))
            }
            Err(error) => Err(ProblemResponse::internal(&error)),
        }
    }
}

/// The parameters in the query.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let query = axum::extract::Query::from_request_parts(parts, state).await;
        let axum::extract::Query(value) =
            query.map_err(|error| ProblemResponse::new(ProblemKind::InvalidRequest, error.body_text()))?;
        Ok(Self(value))
    }
}

/// A JSON body.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T>
where
    StallTimeout: FromRef<S>,
{
    type Rejection = ProblemResponse;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        json(request, JSON_BYTES_MAX, StallTimeout::from_ref(state)).await.map(Self)
    }
}

/// A JSON body of at most `N` bytes, for routes with another limit than the usual one.
pub struct JsonUpTo<T, const N: usize>(pub T);

impl<T: DeserializeOwned, S: Send + Sync, const N: usize> FromRequest<S> for JsonUpTo<T, N>
where
    StallTimeout: FromRef<S>,
{
    type Rejection = ProblemResponse;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        json(request, N, StallTimeout::from_ref(state)).await.map(Self)
    }
}

async fn json<T: DeserializeOwned>(
    request: Request,
    bytes_max: usize,
    StallTimeout(stall): StallTimeout,
) -> Result<T> {
    require_json(request.headers())?;
    let bytes = request_body::collect(request.into_body(), bytes_max, stall).await?;
    Ok(parse::<JsonObject<T>>(&bytes)?.0)
}

/// A JSON body that may be left out.
pub struct OptionalJson<T>(pub T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for OptionalJson<T>
where
    StallTimeout: FromRef<S>,
{
    type Rejection = ProblemResponse;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let is_json = require_json(request.headers());
        let StallTimeout(stall) = StallTimeout::from_ref(state);
        let bytes = request_body::collect(request.into_body(), JSON_BYTES_MAX, stall).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        is_json?;
        Ok(Self(parse::<Option<JsonObject<T>>>(&bytes)?.map(|object| object.0).unwrap_or_default()))
    }
}

/// A client of a stream of server-sent events, which accepts their media type. A client without the header `Accept` takes any.
pub struct AcceptsEventStream;

impl<S: Sync> FromRequestParts<S> for AcceptsEventStream {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        accept_event_stream(&parts.headers)?;
        Ok(Self)
    }
}

/// Checks that a client accepts server-sent events, for routes where that depends on other parts of the request.
///
/// # Errors
/// If the header `Accept` names other types only.
pub fn accept_event_stream(headers: &HeaderMap) -> Result<()> {
    let mut types =
        headers.get_all(header::ACCEPT).iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let accepts = |range: &[u8]| {
        let media_type = range.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        EVENT_STREAM_RANGES.iter().any(|known| media_type.eq_ignore_ascii_case(known.as_bytes()))
    };
    if !headers.contains_key(header::ACCEPT) || types.any(accepts) {
        return Ok(());
    }
    let detail = "the response is a stream of server-sent events; send `Accept: text/event-stream`";
    Err(ProblemResponse::new(ProblemKind::NotAcceptable, detail))
}

/// The header `Tombolo-Author`.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
pub struct AuthorHeader {
    /// The author of the request, 1 to 128 bytes without control characters. It takes precedence over `author` in the body:
    /// a hub sets it, so that its users cannot act under another name.
    #[param(rename = "tombolo-author", value_type = Option<String>, pattern = "^[^\\x00-\\x1f\\x7f]{1,128}$")]
    author: Option<Author>,
}

impl AuthorHeader {
    /// The author from the header, or else the one from the body.
    pub fn or_body_author(self, body_author: Option<Author>) -> Option<Author> {
        self.author.or(body_author)
    }
}

impl<S: Sync> FromRequestParts<S> for AuthorHeader {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let Some(value) = parts.headers.get(AUTHOR) else { return Ok(Self { author: None }) };
        let name = std::str::from_utf8(value.as_bytes()).unwrap_or_default();
        let author = name.parse::<Author>();
        let author = author.map_err(|error| {
            ProblemResponse::new(ProblemKind::InvalidRequest, format!("`Tombolo-Author` is invalid: {error}"))
        })?;
        Ok(Self { author: Some(author) })
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice::<T>(bytes).map_err(|error| {
        ProblemResponse::new(ProblemKind::InvalidRequest, format!("the request body is invalid: {error}"))
    })
}

/// Rejects a request whose content type is not JSON. This also stops cross-site requests: a browser sends JSON to another
/// origin only after a CORS preflight.
pub fn require_json(headers: &HeaderMap) -> Result<()> {
    require_content_type(headers, "application/json")
}

/// Rejects a request with another content type than `required`.
pub fn require_content_type(headers: &HeaderMap, required: &str) -> Result<()> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next()).map(str::trim);
    let found = match essence {
        Some(essence) if essence.eq_ignore_ascii_case(required) => return Ok(()),
        Some(other) => format!("`{other}`"),
        None => "missing".to_owned(),
    };
    let detail = format!("`Content-Type` must be `{required}`, but is {found}");
    Err(ProblemResponse::new(ProblemKind::UnsupportedMedia, detail))
}

/// The event after which a stream resumes: the header `Last-Event-ID`, or else the query parameter.
pub fn last_event_id(headers: &HeaderMap, query: Option<u64>) -> Result<Option<u64>> {
    match headers.get(LAST_EVENT_ID).map(|value| value.to_str().unwrap_or("?")) {
        // Some clients send an empty header until they have received an id.
        None | Some("") => Ok(query),
        Some(text) => text.parse().map(Some).map_err(|_| {
            ProblemResponse::new(
                ProblemKind::InvalidRequest,
                format!("`Last-Event-ID: {text}` is not an event id"),
            )
        }),
    }
}

/// The header `Idempotency-Key`.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    let key = value.to_str().unwrap_or_default().parse::<IdempotencyKey>();
    key.map(Some).map_err(|error| ProblemResponse::new(ProblemKind::InvalidRequest, error.to_string()))
}

/// How long a request may wait for its response: as long as the client wants, up to `max`.
pub fn response_timeout(timeout_ms: Option<u64>, max: Duration) -> Result<Duration> {
    let timeout = timeout_ms.map_or(max, Duration::from_millis);
    if timeout.is_zero() || timeout > max {
        let detail = format!("`timeoutMs` must be between 1 and {}", max.as_millis());
        return Err(ProblemResponse::new(ProblemKind::InvalidRequest, detail));
    }
    Ok(timeout)
}
