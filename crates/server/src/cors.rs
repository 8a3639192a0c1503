//! Which web pages may use a server.

use std::str::FromStr;

use http::{HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::REQUEST_ID;

/// Which web pages may use the server; none by default.
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

/// A value that cannot be put into a header.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` cannot be used for CORS")]
pub struct InvalidCors(pub String);

impl CorsConfig {
    /// What tells browsers so; nothing if no page may.
    pub fn layer(&self) -> Result<Option<CorsLayer>, InvalidCors> {
        if self.origins.is_empty() {
            return Ok(None);
        }
        let any = self.origins.iter().any(|origin| origin == "*");
        if any && self.credentials {
            return Err(InvalidCors("*` together with `--cors-allow-credentials".into()));
        }
        let origins =
            if any { AllowOrigin::any() } else { AllowOrigin::list(parsed::<HeaderValue>(&self.origins)?) };
        let methods = match self.methods.as_slice() {
            [] => vec![Method::GET, Method::POST, Method::PUT, Method::DELETE],
            methods => parsed(methods)?,
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
            headers => parsed(headers)?,
        };
        let exposed =
            [HeaderName::from_static("acp-event-id"), header::ETAG, header::CONTENT_RANGE, REQUEST_ID];
        let layer = CorsLayer::new().allow_origin(origins).allow_methods(methods).allow_headers(headers);
        Ok(Some(layer.expose_headers(exposed).allow_credentials(self.credentials)))
    }
}

fn parsed<T: FromStr>(values: &[String]) -> Result<Vec<T>, InvalidCors> {
    values.iter().map(|value| value.parse().map_err(|_| InvalidCors(value.clone()))).collect()
}
