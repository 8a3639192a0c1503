//! Where a server is.

use std::{fmt, net::IpAddr, str::FromStr};

use reqwest::Url;

/// The address of a server, such as `http://127.0.0.1:2468`; it may have a path that stands before every route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint(Url);

/// Why a text is no address of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEndpoint {
    /// Not an address at all. The text is not repeated: it may hold what belongs elsewhere.
    #[error("it is not a URL such as `http://127.0.0.1:2468`")]
    NotAUrl,
    /// Spoken to in another way.
    #[error("it must start with `http://` or `https://`")]
    Scheme,
    /// Addresses are logged and shown; secrets are not.
    #[error("it must not hold a user or a password: the token is given apart from it")]
    Credentials,
    /// Nothing may come after the path.
    #[error("it must not have a query or a fragment")]
    Query,
}

impl Endpoint {
    /// The address of a route, from the pieces of its path. Each piece is one segment, whatever it holds.
    pub(crate) fn route<'a>(&self, segments: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = self.0.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// The address of a route, from its path and query as they stand; the path begins with `/` and leads nowhere else.
    pub(crate) fn below(&self, path_and_query: &str) -> Url {
        let (path, query) = match path_and_query.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path_and_query, None),
        };
        let mut url = self.0.clone();
        url.set_path(&format!("{}{path}", self.0.path().trim_end_matches('/')));
        url.set_query(query);
        url
    }

    /// Whether it is this machine itself, which no proxy has to know of.
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
    fn a_route_is_below_the_endpoint_and_a_segment_stays_one() {
        check("http://a:1", &["v1", "acp"], "http://a:1/v1/acp");
        check("http://a:1/", &["v1", "acp", "x.y-z"], "http://a:1/v1/acp/x.y-z");
        check("https://a/box/7", &["v1", "health"], "https://a/box/7/v1/health");
        check("https://a/box/7/", &["v1", "a/b?c#d e"], "https://a/box/7/v1/a%2Fb%3Fc%23d%20e");
    }

    #[test]
    fn a_path_is_below_the_endpoint_as_it_stands() {
        for (endpoint, path, expected) in [
            ("http://a:1", "/v1/acp", "http://a:1/v1/acp"),
            ("https://a/box/7/", "/v1/fs/file?path=%2Fa%20b", "https://a/box/7/v1/fs/file?path=%2Fa%20b"),
            ("https://a/box", "/v1/a%2Fb", "https://a/box/v1/a%2Fb"),
        ] {
            assert_eq!(endpoint.parse::<Endpoint>().unwrap().below(path).as_str(), expected);
        }
    }

    #[test]
    fn an_endpoint_holds_no_secret_and_nothing_else() {
        assert_eq!("127.0.0.1:2468".parse::<Endpoint>(), Err(InvalidEndpoint::NotAUrl));
        assert_eq!("localhost:2468".parse::<Endpoint>(), Err(InvalidEndpoint::Scheme));
        assert_eq!("http://u:p@h".parse::<Endpoint>(), Err(InvalidEndpoint::Credentials));
        assert_eq!("http://h/?token=t".parse::<Endpoint>(), Err(InvalidEndpoint::Query));
    }

    #[test]
    fn this_machine_is_known_by_all_its_names() {
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
