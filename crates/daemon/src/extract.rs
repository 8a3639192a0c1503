//! Our extractors: bad input is a problem document too, and names the field.

use std::time::Duration;

use axum::extract::{FromRequest, FromRequestParts, Request, rejection::PathRejection};
use http::{HeaderMap, HeaderName, header, request::Parts};
use journal::Seq;
use protocol::{IdempotencyKey, Kind, Object};
use serde::de::DeserializeOwned;

use crate::{app::App, intake, problem::ApiError};

/// The largest JSON body of the routes that are not ACP.
const JSON_BYTES_MAX: usize = 1 << 20;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The parameters in the path.
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(PathRejection::FailedToDeserializePathParams(error)) => {
                Err(ApiError::new(Kind::InvalidRequest, error.body_text()))
            }
            Err(error) => Err(ApiError::internal(&error)),
        }
    }
}

/// The parameters in the query.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = axum::extract::Query::from_request_parts(parts, state).await;
        let axum::extract::Query(value) =
            query.map_err(|error| ApiError::new(Kind::InvalidRequest, error.body_text()))?;
        Ok(Self(value))
    }
}

/// A JSON body.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        json(request, JSON_BYTES_MAX, app.stall).await.map(Self)
    }
}

/// A JSON body of at most `N` bytes, for what may be longer than the rest.
pub(crate) struct LongJson<T, const N: usize>(pub(crate) T);

impl<T: DeserializeOwned, const N: usize> FromRequest<App> for LongJson<T, N> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        json(request, N, app.stall).await.map(Self)
    }
}

async fn json<T: DeserializeOwned>(
    request: Request,
    bytes_max: usize,
    stall: Duration,
) -> Result<T, ApiError> {
    need_json(request.headers())?;
    let bytes = intake::collect(request.into_body(), bytes_max, stall).await?;
    Ok(parse::<Object<T>>(&bytes)?.0)
}

/// A JSON body that may be left out.
pub(crate) struct OptionalJson<T>(pub(crate) T);

impl<T: DeserializeOwned + Default> FromRequest<App> for OptionalJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let json = need_json(request.headers());
        let bytes = intake::collect(request.into_body(), JSON_BYTES_MAX, app.stall).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        json?;
        Ok(Self(parse::<Option<Object<T>>>(&bytes)?.map(|object| object.0).unwrap_or_default()))
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice::<T>(bytes)
        .map_err(|error| ApiError::new(Kind::InvalidRequest, format!("the body is not valid: {error}")))
}

/// Refuses a body that does not say it is JSON: a web page of another origin cannot send one that does.
pub(crate) fn need_json(headers: &HeaderMap) -> Result<(), ApiError> {
    need_type(headers, "application/json")
}

/// Refuses a body that does not say it is of the type `needed`.
pub(crate) fn need_type(headers: &HeaderMap, needed: &str) -> Result<(), ApiError> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next()).map(str::trim);
    let found = match essence {
        Some(essence) if essence.eq_ignore_ascii_case(needed) => return Ok(()),
        Some(other) => format!("`{other}`"),
        None => "nothing".to_owned(),
    };
    let detail = format!("`Content-Type` must be `{needed}`, and it is {found}");
    Err(ApiError::new(Kind::UnsupportedMedia, detail))
}

/// After which event a stream is to go on: the header `Last-Event-ID`, or else what the query says.
pub(crate) fn last_event(headers: &HeaderMap, query: Option<u64>) -> Result<Option<Seq>, ApiError> {
    let last = match headers.get(LAST_EVENT_ID).map(|value| value.to_str().unwrap_or("?")) {
        // Some clients send the header empty until they have read an id.
        None | Some("") => query,
        Some(text) => Some(text.parse().map_err(|_| {
            ApiError::new(Kind::InvalidRequest, format!("`Last-Event-ID: {text}` is not an event id"))
        })?),
    };
    Ok(last.map(Seq::new))
}

/// The header `Idempotency-Key`.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, ApiError> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    let key = value.to_str().unwrap_or_default().parse::<IdempotencyKey>();
    key.map(Some).map_err(|error| ApiError::new(Kind::InvalidRequest, error.to_string()))
}

/// How long a request waits: what it asks for, within `max`.
pub(crate) fn patience(timeout_ms: Option<u64>, max: Duration) -> Result<Duration, ApiError> {
    let wanted = timeout_ms.map_or(max, Duration::from_millis);
    if wanted.is_zero() || wanted > max {
        let detail = format!("`timeoutMs` must be between 1 and {}", max.as_millis());
        return Err(ApiError::new(Kind::InvalidRequest, detail));
    }
    Ok(wanted)
}
