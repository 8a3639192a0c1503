//! The cookie of a browser that has logged in.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, header};
use server::{PeerAddress, is_loopback_host};

/// How the cookie is called, and how it travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cookie {
    /// Over TLS only. By its name browsers know that no other host and no page without TLS has set it.
    Secure,
    /// On this machine, where there is no TLS.
    Local,
}

impl Cookie {
    /// The one for a request. Whatever comes from elsewhere, or through a proxy, comes over TLS or gets no cookie.
    pub(crate) fn for_request(headers: &HeaderMap, peer: Option<PeerAddress>) -> Self {
        let local =
            peer.is_some_and(|PeerAddress(address)| address.ip().is_loopback()) && is_loopback_host(headers);
        if local { Self::Local } else { Self::Secure }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Secure => "__Host-tombolo",
            Self::Local => "tombolo",
        }
    }

    /// Its value, if the request has it.
    pub(crate) fn read(self, headers: &HeaderMap) -> Option<&str> {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
        cookies.find(|(name, _)| name.trim() == self.name()).map(|(_, value)| value.trim())
    }

    /// What makes the browser keep it for so long.
    pub(crate) fn set(self, secret: &str, age: Duration) -> Option<HeaderValue> {
        let secure = if self == Self::Secure { "; Secure" } else { "" };
        let name = self.name();
        let text =
            format!("{name}={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}{secure}", age.as_secs());
        let mut value = HeaderValue::try_from(text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// What makes the browser forget it.
    pub(crate) fn clear(self) -> Option<HeaderValue> {
        self.set("", Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(host: &str, cookie: &str) -> HeaderMap {
        let pairs = [(header::HOST, host), (header::COOKIE, cookie)];
        pairs.into_iter().map(|(name, value)| (name, value.parse().unwrap())).collect()
    }

    /// Only who asks this machine by its own name from itself gets a cookie that needs no TLS.
    #[test]
    fn a_cookie_needs_tls_unless_it_stays_on_this_machine() {
        let peer = |ip: &str| Some(PeerAddress(std::net::SocketAddr::new(ip.parse().unwrap(), 1)));
        for (host, ip, kind) in [
            ("localhost:2470", "127.0.0.1", Cookie::Local),
            ("[::1]:2470", "::1", Cookie::Local),
            ("hub.example", "127.0.0.1", Cookie::Secure),
            ("localhost:2470", "10.0.0.1", Cookie::Secure),
        ] {
            assert_eq!(Cookie::for_request(&headers(host, ""), peer(ip)), kind, "{host} {ip}");
        }
        assert_eq!(Cookie::for_request(&headers("localhost", ""), None), Cookie::Secure);
    }

    #[test]
    fn a_cookie_is_found_by_its_name() {
        let headers = headers("x", "a=b; tombolo=local; __Host-tombolo=secure; c");
        assert_eq!(Cookie::Local.read(&headers), Some("local"));
        assert_eq!(Cookie::Secure.read(&headers), Some("secure"));
        assert_eq!(Cookie::Secure.read(&HeaderMap::new()), None);
    }

    #[test]
    fn a_cookie_is_kept_from_scripts_and_from_other_sites() {
        let age = Duration::from_secs(60);
        let set = Cookie::Secure.set("x", age).unwrap();
        assert_eq!(set, "__Host-tombolo=x; HttpOnly; SameSite=Strict; Path=/; Max-Age=60; Secure");
        assert_eq!(Cookie::Local.clear().unwrap(), "tombolo=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
        assert_eq!(format!("{set:?}"), "Sensitive");
    }
}
