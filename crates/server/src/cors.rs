//! Cross-origin access for web pages.

use std::str::FromStr;

use http::{HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::REQUEST_ID;

/// Which web pages of other origins may use the server; none by default.
#[derive(Debug, Clone, Default)]
pub struct CorsConfig {
    /// Origins, such as `https://example.org`; `*` for all.
    pub origins: Vec<String>,
    /// Methods; all that the API has if none is given.
    pub methods: Vec<String>,
    /// Request headers; those that the API reads if none is given.
    pub headers: Vec<String>,
    /// Whether pages may send credentials.
    pub credentials: bool,
}

/// A CORS option is invalid.
#[derive(Debug, thiserror::Error)]
#[error("invalid CORS option: {0}")]
pub struct InvalidCors(pub String);

impl CorsConfig {
    /// The layer that answers preflight requests and adds the CORS headers; `None` if no page is allowed.
    pub fn layer(&self) -> Result<Option<CorsLayer>, InvalidCors> {
        if self.origins.is_empty() {
            return Ok(None);
        }
        let allows_any = self.origins.iter().any(|origin| origin == "*");
        if allows_any && self.credentials {
            return Err(InvalidCors(
                "the origin `*` cannot be combined with credentials; name the origins, or drop --cors-allow-credentials"
                    .into(),
            ));
        }
        let origins = if allows_any {
            AllowOrigin::any()
        } else {
            AllowOrigin::list(parse_all::<HeaderValue>(&self.origins)?)
        };
        let methods = match self.methods.as_slice() {
            [] => vec![Method::GET, Method::POST, Method::PUT, Method::DELETE],
            methods => parse_all(methods)?,
        };
        let headers: Vec<HeaderName> = match self.headers.as_slice() {
            [] => vec![
                header::AUTHORIZATION,
                header::CONTENT_TYPE,
                header::RANGE,
                header::IF_MATCH,
                header::IF_NONE_MATCH,
                HeaderName::from_static("idempotency-key"),
                HeaderName::from_static("last-event-id"),
                HeaderName::from_static("prefer"),
                REQUEST_ID,
            ],
            headers => parse_all(headers)?,
        };
        let exposed =
            [HeaderName::from_static("acp-event-id"), header::ETAG, header::CONTENT_RANGE, REQUEST_ID];
        let layer = CorsLayer::new().allow_origin(origins).allow_methods(methods).allow_headers(headers);
        Ok(Some(layer.expose_headers(exposed).allow_credentials(self.credentials)))
    }
}

fn parse_all<T: FromStr>(values: &[String]) -> Result<Vec<T>, InvalidCors> {
    values
        .iter()
        .map(|value| {
            value.parse().map_err(|_| InvalidCors(format!("`{value}` is not allowed in an HTTP header")))
        })
        .collect()
}
