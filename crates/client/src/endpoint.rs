//! The address of a server.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use protocol::RuntimeId;
use reqwest::Url;

/// The address of a server, such as `http://127.0.0.1:2468`. It may have a path, which is prepended to every route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint(Url);

/// The text is not the address of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEndpoint {
    /// Not a URL. The message does not repeat the text, which may be a secret that was passed by mistake.
    #[error("the address must be a URL such as `http://127.0.0.1:2468`")]
    NotAUrl,
    /// Another scheme than HTTP.
    #[error("the address must start with `http://` or `https://`")]
    Scheme,
    /// Credentials in the URL. Addresses are logged and shown, so they must not contain secrets.
    #[error("the address must not contain a user or password: pass the token separately")]
    Credentials,
    /// Something after the path.
    #[error("the address must not have a query or a fragment")]
    Query,
}

impl Endpoint {
    /// The URL of a route with these path segments, which are percent-encoded.
    pub(crate) fn route<'a>(&self, segments: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = self.0.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// The URL of a route, from its encoded path and query. The path starts with `/`.
    pub(crate) fn join_path(&self, path_and_query: &str) -> Url {
        let (path, query) = match path_and_query.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path_and_query, None),
        };
        let mut url = self.0.clone();
        url.set_path(&format!("{}{path}", self.0.path().trim_end_matches('/')));
        url.set_query(query);
        url
    }

    /// This endpoint, if it is a server that listens on this loopback address. Its host becomes a name, because a client looks
    /// up names before each connection and addresses never: see [`Client::new_local`](crate::Client::new_local).
    pub fn at_loopback(&self, listener: SocketAddr) -> Option<Self> {
        let host = self.0.host_str()?.trim_matches(['[', ']']);
        let is_listener = host.eq_ignore_ascii_case("localhost") || host.parse() == Ok(listener.ip());
        let is_plain = self.0.scheme() == "http" && self.0.port_or_known_default() == Some(listener.port());
        if !(is_plain && is_listener && listener.ip().is_loopback()) {
            return None;
        }
        let mut url = self.0.clone();
        url.set_host(Some("localhost")).ok()?;
        Some(Self(url))
    }

    /// The hub through which this daemon is reached, and the name that it has there: `…/api/runtimes/NAME`.
    pub(crate) fn hub_of_runtime(&self) -> Option<(Self, RuntimeId)> {
        let path = self.0.path().trim_end_matches('/');
        let (prefix, runtime) = path.rsplit_once("/api/runtimes/")?;
        let runtime = runtime.parse().ok()?;
        let mut url = self.0.clone();
        url.set_path(prefix);
        Some((Self(url), runtime))
    }

    /// Whether this is a server of its own on this machine, rather than one behind a hub. It may still have other files, as in a
    /// container.
    pub fn is_local_server(&self) -> bool {
        self.is_loopback() && self.0.path() == "/"
    }

    /// Whether the server is on this machine, so that no proxy must be used.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default().trim_matches(['[', ']']);
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

impl FromStr for Endpoint {
    type Err = InvalidEndpoint;

    fn from_str(text: &str) -> Result<Self, InvalidEndpoint> {
        let url = Url::parse(text.trim()).map_err(|_| InvalidEndpoint::NotAUrl)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(InvalidEndpoint::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidEndpoint::Credentials);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(InvalidEndpoint::Query);
        }
        Ok(Self(url))
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(endpoint: &str, segments: &[&str], expected: &str) {
        let endpoint: Endpoint = endpoint.parse().unwrap();
        assert_eq!(endpoint.route(segments.iter().copied()).as_str(), expected);
    }

    #[test]
    fn segments_are_appended_and_encoded() {
        check("http://a:1", &["v1", "acp"], "http://a:1/v1/acp");
        check("http://a:1/", &["v1", "acp", "x.y-z"], "http://a:1/v1/acp/x.y-z");
        check("https://a/box/7", &["v1", "health"], "https://a/box/7/v1/health");
        check("https://a/box/7/", &["v1", "a/b?c#d e"], "https://a/box/7/v1/a%2Fb%3Fc%23d%20e");
    }

    #[test]
    fn an_encoded_path_is_appended_unchanged() {
        for (endpoint, path, expected) in [
            ("http://a:1", "/v1/acp", "http://a:1/v1/acp"),
            ("https://a/box/7/", "/v1/fs/file?path=%2Fa%20b", "https://a/box/7/v1/fs/file?path=%2Fa%20b"),
            ("https://a/box", "/v1/a%2Fb", "https://a/box/v1/a%2Fb"),
        ] {
            assert_eq!(endpoint.parse::<Endpoint>().unwrap().join_path(path).as_str(), expected);
        }
    }

    #[test]
    fn an_endpoint_has_no_credentials_query_or_fragment() {
        assert_eq!("127.0.0.1:2468".parse::<Endpoint>(), Err(InvalidEndpoint::NotAUrl));
        assert_eq!("localhost:2468".parse::<Endpoint>(), Err(InvalidEndpoint::Scheme));
        assert_eq!("http://u:p@h".parse::<Endpoint>(), Err(InvalidEndpoint::Credentials));
        assert_eq!("http://h/?token=t".parse::<Endpoint>(), Err(InvalidEndpoint::Query));
    }

    #[test]
    fn only_the_address_of_a_local_listener_is_its_endpoint() {
        for (text, listener, expected) in [
            ("http://127.0.0.1:2468", "127.0.0.1:2468", Some("http://localhost:2468")),
            ("http://localhost:2468/box", "127.0.0.1:2468", Some("http://localhost:2468/box")),
            ("http://LocalHost:2468", "[::1]:2468", Some("http://localhost:2468")),
            ("http://[::1]:2468", "[::1]:2468", Some("http://localhost:2468")),
            ("http://2130706433:2468", "127.0.0.1:2468", Some("http://localhost:2468")),
            ("http://127.0.0.1:2469", "127.0.0.1:2468", None),
            ("http://127.0.0.2:2468", "127.0.0.1:2468", None),
            ("http://[::1]:2468", "127.0.0.1:2468", None),
            ("http://[::ffff:127.0.0.1]:2468", "127.0.0.1:2468", None),
            ("https://127.0.0.1:2468", "127.0.0.1:2468", None),
            ("http://localhost.example:2468", "127.0.0.1:2468", None),
            ("http://box.example:2468", "127.0.0.1:2468", None),
            ("http://10.0.0.1:2468", "10.0.0.1:2468", None),
            ("http://localhost:2468", "10.0.0.1:2468", None),
        ] {
            let endpoint: Endpoint = text.parse().unwrap();
            let found = endpoint.at_loopback(listener.parse().unwrap()).map(|endpoint| endpoint.to_string());
            assert_eq!(found.as_deref(), expected, "{text} {listener}");
        }
    }

    #[test]
    fn all_loopback_names_are_recognized() {
        for (text, expected) in [
            ("http://localhost", true),
            ("http://127.9.9.9:1", true),
            ("http://[::1]:1", true),
            ("http://h", false),
        ] {
            assert_eq!(text.parse::<Endpoint>().unwrap().is_loopback(), expected, "{text}");
        }
    }
}
