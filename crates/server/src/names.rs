//! The names that a request carries: where it wants to go, which page sent it, and who it says it is.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, header};
use protocol::Kind;

use crate::{Refusal, Result};

/// Which `Host` and `Origin` are answered.
#[derive(Debug, Clone)]
pub struct Names {
    /// Whether we listen on the loopback: there only known names are answered, so that no web page can rebind its own
    /// name to us. Elsewhere all are.
    pub loopback: bool,
    /// Names in `Host` that are allowed besides those of the loopback.
    pub hosts: Vec<String>,
    /// Origins whose pages are allowed; `*` for all.
    pub origins: Vec<String>,
}

impl Names {
    /// Refuses a request for a name that is not ours, or from a page that may not use us.
    pub fn check(&self, headers: &HeaderMap) -> Result<()> {
        if !self.loopback {
            return Ok(());
        }
        let host = text(headers, header::HOST).unwrap_or_default();
        if !self.known_host(host) {
            let detail = format!("`Host: {host}` is not a name of this server; allow it with --allow-host");
            return Err(Refusal::new(Kind::HostNotAllowed, detail));
        }
        let Some(origin) = text(headers, header::ORIGIN) else { return Ok(()) };
        let allowed = self.origins.iter().any(|allowed| allowed == "*" || allowed == origin);
        let same = origin.split_once("://").is_some_and(|(_, authority)| authority == host);
        if !allowed && !same {
            let detail =
                format!("pages of `{origin}` may not use this server; allow them with --cors-allow-origin");
            return Err(Refusal::new(Kind::HostNotAllowed, detail));
        }
        Ok(())
    }

    fn known_host(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        let loopback = name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        loopback || self.hosts.iter().any(|allowed| name.eq_ignore_ascii_case(allowed))
    }
}

/// The token of `Authorization: Bearer …`.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = text(headers, header::AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or_default())
}

#[cfg(test)]
mod tests;
