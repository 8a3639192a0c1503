//! Checks the API key of requests to the scripted model.

use axum::http::{HeaderMap, Uri};
use secrecy::{ExposeSecret, SecretString};

/// The headers in which the vendors' APIs expect a key. Gemini also accepts it as the query parameter `key`.
const HEADERS: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];

#[derive(Debug)]
pub(super) struct ApiKey(SecretString);

impl ApiKey {
    pub(super) fn new(key: &str) -> Self {
        Self(key.into())
    }

    /// Whether a request carries this key in a header or in the query.
    pub(super) fn is_in(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let sent = HEADERS.iter().filter_map(|name| headers.get(*name)?.to_str().ok());
        let sent = sent.map(|value| value.trim_start_matches("Bearer "));
        let query = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.strip_prefix("key="));
        sent.chain(query).any(|key| key == self.0.expose_secret())
    }
}
