//! Our extractors: bad input is a problem document too, and names the field.

use std::time::Duration;

use axum::extract::{FromRef, FromRequest, FromRequestParts, Request, rejection::PathRejection};
use http::{HeaderMap, HeaderName, header, request::Parts};
use protocol::{Author, IdempotencyKey, JsonObject, ProblemKind};
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use crate::{Refusal, Result, intake};

/// The largest JSON body of a route that does not say otherwise.
const JSON_BYTES_MAX: usize = 1 << 20;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Names who is behind a request. Whoever passes requests on for people sets it.
pub const AUTHOR: HeaderName = HeaderName::from_static("tombolo-author");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How long a body may pause. The state of a router that takes bodies has one.
#[derive(Debug, Clone, Copy)]
pub struct Stall(pub Duration);

/// The parameters in the path.
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(PathRejection::FailedToDeserializePathParams(error)) => {
                Err(Refusal::new(ProblemKind::InvalidRequest, error.body_text()))
            }
            Err(error) => Err(Refusal::internal(&error)),
        }
    }
}

/// The parameters in the query.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let query = axum::extract::Query::from_request_parts(parts, state).await;
        let axum::extract::Query(value) =
            query.map_err(|error| Refusal::new(ProblemKind::InvalidRequest, error.body_text()))?;
        Ok(Self(value))
    }
}

/// A JSON body.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T>
where
    Stall: FromRef<S>,
{
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        json(request, JSON_BYTES_MAX, Stall::from_ref(state)).await.map(Self)
    }
}

/// A JSON body of at most `N` bytes, for what may be longer than the rest.
pub struct LongJson<T, const N: usize>(pub T);

impl<T: DeserializeOwned, S: Send + Sync, const N: usize> FromRequest<S> for LongJson<T, N>
where
    Stall: FromRef<S>,
{
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        json(request, N, Stall::from_ref(state)).await.map(Self)
    }
}

async fn json<T: DeserializeOwned>(request: Request, bytes_max: usize, Stall(stall): Stall) -> Result<T> {
    need_json(request.headers())?;
    let bytes = intake::collect(request.into_body(), bytes_max, stall).await?;
    Ok(parse::<JsonObject<T>>(&bytes)?.0)
}

/// A JSON body that may be left out.
pub struct OptionalJson<T>(pub T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for OptionalJson<T>
where
    Stall: FromRef<S>,
{
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let json = need_json(request.headers());
        let Stall(stall) = Stall::from_ref(state);
        let bytes = intake::collect(request.into_body(), JSON_BYTES_MAX, stall).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        json?;
        Ok(Self(parse::<Option<JsonObject<T>>>(&bytes)?.map(|object| object.0).unwrap_or_default()))
    }
}

/// Who is behind a request.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
pub struct By {
    /// Who is behind the request, 1 to 128 bytes without control characters. It is stronger than the `author` in the body:
    /// a hub sets it, so that nobody speaks as somebody else through it.
    #[param(rename = "tombolo-author", value_type = Option<String>)]
    author: Option<Author>,
}

impl By {
    /// Who it is, where the body says `said`.
    pub fn or(self, said: Option<Author>) -> Option<Author> {
        self.author.or(said)
    }
}

impl<S: Sync> FromRequestParts<S> for By {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let Some(value) = parts.headers.get(AUTHOR) else { return Ok(Self { author: None }) };
        let name = std::str::from_utf8(value.as_bytes()).unwrap_or_default();
        let author = name.parse::<Author>();
        let author = author.map_err(|error| {
            Refusal::new(ProblemKind::InvalidRequest, format!("`Tombolo-Author` cannot be used: {error}"))
        })?;
        Ok(Self { author: Some(author) })
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice::<T>(bytes)
        .map_err(|error| Refusal::new(ProblemKind::InvalidRequest, format!("the body is not valid: {error}")))
}

/// Refuses a body that does not say it is JSON: a web page of another origin cannot send one that does.
pub fn need_json(headers: &HeaderMap) -> Result<()> {
    need_type(headers, "application/json")
}

/// Refuses a body that does not say it is of the type `needed`.
pub fn need_type(headers: &HeaderMap, needed: &str) -> Result<()> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next()).map(str::trim);
    let found = match essence {
        Some(essence) if essence.eq_ignore_ascii_case(needed) => return Ok(()),
        Some(other) => format!("`{other}`"),
        None => "nothing".to_owned(),
    };
    let detail = format!("`Content-Type` must be `{needed}`, and it is {found}");
    Err(Refusal::new(ProblemKind::UnsupportedMedia, detail))
}

/// After which event a stream is to go on: the header `Last-Event-ID`, or else what the query says.
pub fn last_event(headers: &HeaderMap, query: Option<u64>) -> Result<Option<u64>> {
    match headers.get(LAST_EVENT_ID).map(|value| value.to_str().unwrap_or("?")) {
        // Some clients send the header empty until they have read an id.
        None | Some("") => Ok(query),
        Some(text) => text.parse().map(Some).map_err(|_| {
            Refusal::new(ProblemKind::InvalidRequest, format!("`Last-Event-ID: {text}` is not an event id"))
        }),
    }
}

/// The header `Idempotency-Key`.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    let key = value.to_str().unwrap_or_default().parse::<IdempotencyKey>();
    key.map(Some).map_err(|error| Refusal::new(ProblemKind::InvalidRequest, error.to_string()))
}

/// How long a request waits: what it asks for, within `max`.
pub fn patience(timeout_ms: Option<u64>, max: Duration) -> Result<Duration> {
    let wanted = timeout_ms.map_or(max, Duration::from_millis);
    if wanted.is_zero() || wanted > max {
        let detail = format!("`timeoutMs` must be between 1 and {}", max.as_millis());
        return Err(Refusal::new(ProblemKind::InvalidRequest, detail));
    }
    Ok(wanted)
}
