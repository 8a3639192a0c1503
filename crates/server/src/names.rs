//! The names that a request carries: where it wants to go, which page sent it, and who it says it is.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, header};
use protocol::ProblemKind;

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
            return Err(Refusal::new(ProblemKind::HostNotAllowed, detail));
        }
        let Some(origin) = text(headers, header::ORIGIN) else { return Ok(()) };
        if !self.origins.iter().any(|allowed| allowed == "*") && !self.is_ours(headers) {
            let detail =
                format!("pages of `{origin}` may not use this server; allow them with --cors-allow-origin");
            return Err(Refusal::new(ProblemKind::HostNotAllowed, detail));
        }
        Ok(())
    }

    /// Whether the request says that it was sent by a page of this server, or of one that is allowed by name.
    pub fn is_ours(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = text(headers, header::ORIGIN) else { return false };
        let host = text(headers, header::HOST).unwrap_or_default();
        let same = origin.split_once("://").is_some_and(|(_, authority)| authority == host);
        same || self.origins.iter().any(|allowed| allowed == origin)
    }

    fn known_host(&self, host: &str) -> bool {
        let name = name(host);
        is_loopback_name(name) || self.hosts.iter().any(|allowed| name.eq_ignore_ascii_case(allowed))
    }
}

/// Whether the request is for this machine, by a name that only it has for itself.
pub fn is_loopback_host(headers: &HeaderMap) -> bool {
    is_loopback_name(name(text(headers, header::HOST).unwrap_or_default()))
}

/// The name in `Host`, without the port.
fn name(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

fn is_loopback_name(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
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
