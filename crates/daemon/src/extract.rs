//! Our extractors: bad input is a problem document too, and names the field.

use axum::extract::{FromRequest, FromRequestParts, Request, rejection::PathRejection};
use http::{HeaderMap, header, request::Parts};
use protocol::Kind;
use serde::de::DeserializeOwned;

use crate::{app::App, intake, problem::ApiError};

/// The largest JSON body of the routes that are not ACP.
const JSON_BYTES_MAX: usize = 1 << 20;

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
        need_json(request.headers())?;
        let bytes = intake::collect(request.into_body(), JSON_BYTES_MAX, app.stall).await?;
        parse(&bytes).map(Self)
    }
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
        Ok(Self(parse::<Option<T>>(&bytes)?.unwrap_or_default()))
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes)
        .map_err(|error| ApiError::new(Kind::InvalidRequest, format!("the body is not valid: {error}")))
}

/// Refuses a body that does not say it is JSON: a web page of another origin cannot send one that does.
pub(crate) fn need_json(headers: &HeaderMap) -> Result<(), ApiError> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next()).map(str::trim);
    match essence {
        Some(essence) if essence.eq_ignore_ascii_case("application/json") => Ok(()),
        Some(other) => Err(unsupported(&format!("`{other}`"))),
        None => Err(unsupported("nothing")),
    }
}

fn unsupported(found: &str) -> ApiError {
    ApiError::new(Kind::UnsupportedMedia, format!("`Content-Type` must be `application/json`, and it is {found}"))
}
