//! The API keys of requests to the scripted model.

use axum::http::{HeaderMap, Uri};
use secrecy::{ExposeSecret, SecretString};

/// The headers in which the vendors' APIs expect a key, as their documents spell them.
const HEADERS: [&str; 3] = ["Authorization", "x-api-key", "x-goog-api-key"];

/// A key in a request. `Debug` hides it, because failing tests print requests.
#[derive(Debug, Clone)]
pub struct SentKey {
    place: &'static str,
    secret: SecretString,
}

impl SentKey {
    /// The keys of a request: in headers, and in the query parameter `key`, which Gemini accepts too.
    pub(super) fn all(uri: &Uri, headers: &HeaderMap) -> Vec<Self> {
        let sent = HEADERS.iter().filter_map(|name| Some((*name, headers.get(*name)?.to_str().ok()?)));
        let sent = sent.map(|(name, value)| (name, value.trim_start_matches("Bearer ")));
        let query = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.strip_prefix("key="));
        let all = sent.chain(query.map(|key| ("query", key))).filter(|(_, key)| !key.is_empty());
        all.map(|(place, key)| Self { place, secret: key.into() }).collect()
    }

    /// The header that the key was in, or `query`.
    pub fn place(&self) -> &'static str {
        self.place
    }

    /// Whether the key is this one.
    pub fn is(&self, key: &str) -> bool {
        self.secret.expose_secret() == key
    }
}
