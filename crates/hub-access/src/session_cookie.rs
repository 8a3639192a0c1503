//! The cookie of a browser that has logged in.
//!
//! It is read with `headers` and written here: the `cookie` crate would bring in `time`, a second library for dates, for
//! one line of text.

use std::time::Duration;

use headers::HeaderMapExt;
use http::{HeaderMap, HeaderName, HeaderValue};
use server::{PeerAddress, host_port, is_loopback_host, offered_subprotocol};

use crate::signing_key::SigningKey;

/// The header with the page key.
const PAGE_KEY: HeaderName = HeaderName::from_static("tombolo-page-key");

/// The prefix of the WebSocket sub-protocol with the page key, as pages cannot set headers of WebSockets.
const PAGE_KEY_SUBPROTOCOL: &str = "tombolo.page-key.";

/// Which of the two session cookies a browser gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionCookie {
    /// Sent over TLS only. The prefix `__Host-` makes browsers reject it if another host or a page without TLS set it.
    Secure,
    /// For a browser on the hub's own machine, where there is no TLS. Browsers send it to every port of the machine, so it
    /// needs a page key beside it, and has the port in its name to leave other hubs alone.
    Local {
        /// The port in `Host`.
        port: u16,
    },
}

impl SessionCookie {
    /// Chooses the cookie for a request. A request from another machine, or through a proxy, must come over TLS.
    pub fn for_request(headers: &HeaderMap, peer: Option<PeerAddress>) -> Self {
        let local =
            peer.is_some_and(|PeerAddress(address)| address.ip().is_loopback()) && is_loopback_host(headers);
        if local { Self::Local { port: host_port(headers) } } else { Self::Secure }
    }

    fn name(self) -> String {
        match self {
            Self::Secure => "__Host-tombolo".into(),
            Self::Local { port } => format!("tombolo-{port}"),
        }
    }

    /// The page key of a cookie with this value, if such cookies need one.
    pub fn page_key(self, key: &SigningKey, secret: &str) -> Option<String> {
        matches!(self, Self::Local { .. }).then(|| key.page_key(secret))
    }

    /// Whether the request has the page key that the cookie needs.
    pub fn has_page_key(self, key: &SigningKey, secret: &str, headers: &HeaderMap) -> bool {
        let in_header = headers.get(PAGE_KEY).and_then(|value| value.to_str().ok());
        let given = in_header.or_else(|| offered_subprotocol(headers, PAGE_KEY_SUBPROTOCOL));
        self == Self::Secure || given.is_some_and(|given| key.is_page_key(secret, given))
    }

    /// Returns its value, if the request has it.
    pub fn read(self, headers: &HeaderMap) -> Option<String> {
        let cookies: headers::Cookie = headers.typed_get()?;
        cookies.get(&self.name()).map(str::to_owned)
    }

    /// Builds the `Set-Cookie` header that makes the browser keep it for `age`.
    pub fn set(self, secret: &str, age: Duration) -> Option<HeaderValue> {
        let secure = if self == Self::Secure { "; Secure" } else { "" };
        let name = self.name();
        let text =
            format!("{name}={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}{secure}", age.as_secs());
        let mut value = HeaderValue::try_from(text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Builds the `Set-Cookie` header that makes the browser delete it.
    pub fn clear(self) -> Option<HeaderValue> {
        self.set("", Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use http::header;

    use super::*;

    fn headers(host: &str, cookie: &str) -> HeaderMap {
        let pairs = [(header::HOST, host), (header::COOKIE, cookie)];
        pairs.into_iter().map(|(name, value)| (name, value.parse().unwrap())).collect()
    }

    #[test]
    fn a_cookie_needs_tls_unless_it_stays_on_this_machine() {
        let peer = |ip: &str| Some(PeerAddress(std::net::SocketAddr::new(ip.parse().unwrap(), 1)));
        for (host, ip, kind) in [
            ("localhost:2470", "127.0.0.1", SessionCookie::Local { port: 2470 }),
            ("[::1]:2470", "::1", SessionCookie::Local { port: 2470 }),
            ("hub.example", "127.0.0.1", SessionCookie::Secure),
            ("localhost:2470", "10.0.0.1", SessionCookie::Secure),
        ] {
            assert_eq!(SessionCookie::for_request(&headers(host, ""), peer(ip)), kind, "{host} {ip}");
        }
        assert_eq!(SessionCookie::for_request(&headers("localhost", ""), None), SessionCookie::Secure);
    }

    #[test]
    fn a_cookie_is_found_by_its_name() {
        let headers = headers("x", "a=b; tombolo-80=local; tombolo-81=other; __Host-tombolo=secure; c");
        assert_eq!(SessionCookie::Local { port: 80 }.read(&headers).as_deref(), Some("local"));
        assert_eq!(SessionCookie::Secure.read(&headers).as_deref(), Some("secure"));
        assert_eq!(SessionCookie::Secure.read(&HeaderMap::new()), None);
    }

    #[test]
    fn a_cookie_is_kept_from_scripts_and_from_other_sites() {
        let age = Duration::from_secs(60);
        let set = SessionCookie::Secure.set("x", age).unwrap();
        assert_eq!(set, "__Host-tombolo=x; HttpOnly; SameSite=Strict; Path=/; Max-Age=60; Secure");
        assert_eq!(
            SessionCookie::Local { port: 80 }.clear().unwrap(),
            "tombolo-80=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0"
        );
        assert_eq!(format!("{set:?}"), "Sensitive");
    }
}
