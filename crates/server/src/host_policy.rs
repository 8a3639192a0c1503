//! Checks the `Host` and `Origin` of requests, and reads their bearer token.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, header};
use protocol::ProblemKind;

use crate::{ProblemResponse, Result};

/// Which values of `Host` and `Origin` are accepted.
#[derive(Debug, Clone)]
pub struct HostPolicy {
    /// Whether the server listens on the loopback. Only there the policy applies, against DNS rebinding: a web page can make
    /// its own host name resolve to 127.0.0.1, and its requests then carry that name.
    pub loopback: bool,
    /// Allowed values of `Host`, besides the names of the loopback.
    pub hosts: Vec<String>,
    /// Origins whose pages may use the server; `*` for all.
    pub origins: Vec<String>,
}

impl HostPolicy {
    /// Rejects a request for another host, or from a page that may not use this server.
    pub fn check(&self, headers: &HeaderMap) -> Result<()> {
        if !self.loopback {
            return Ok(());
        }
        let host = header_text(headers, header::HOST).unwrap_or_default();
        if !self.is_allowed_host(host) {
            let detail =
                format!("`Host: {host}` is not allowed; pass --allow-host to accept requests for this name");
            return Err(ProblemResponse::new(ProblemKind::HostNotAllowed, detail));
        }
        let Some(origin) = header_text(headers, header::ORIGIN) else { return Ok(()) };
        if !self.origins.iter().any(|allowed| allowed == "*") && !self.is_same_or_allowed_origin(headers) {
            let detail = format!(
                "pages of `{origin}` may not use this server; pass --cors-allow-origin to allow them"
            );
            return Err(ProblemResponse::new(ProblemKind::HostNotAllowed, detail));
        }
        Ok(())
    }

    /// Whether the request comes from a page of this server, or of an origin that is allowed by name.
    pub fn is_same_or_allowed_origin(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = header_text(headers, header::ORIGIN) else { return false };
        let host = header_text(headers, header::HOST).unwrap_or_default();
        let is_same_origin = origin.split_once("://").is_some_and(|(_, authority)| authority == host);
        is_same_origin || self.origins.iter().any(|allowed| allowed == origin)
    }

    fn is_allowed_host(&self, host: &str) -> bool {
        let name = strip_port(host);
        is_loopback_name(name) || self.hosts.iter().any(|allowed| name.eq_ignore_ascii_case(allowed))
    }
}

/// Whether the `Host` of the request is a name of the loopback.
pub fn is_loopback_host(headers: &HeaderMap) -> bool {
    is_loopback_name(strip_port(header_text(headers, header::HOST).unwrap_or_default()))
}

/// The port in `Host`; 80 if it has none.
pub fn host_port(headers: &HeaderMap) -> u16 {
    let host = header_text(headers, header::HOST).unwrap_or_default();
    host.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(80)
}

/// The name in `Host`, without the port.
fn strip_port(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

fn is_loopback_name(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The token in `Authorization: Bearer …`.
pub fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = header_text(headers, header::AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn header_text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or_default())
}

#[cfg(test)]
mod tests;
