//! Decides which requests are admitted, by their `Host`, `Origin` and token.

use http::{HeaderMap, request::Parts};
use protocol::ProblemKind;
use secrecy::ExposeSecret;
use server::{AccessCheck, HostPolicy, ProblemResponse, bearer_token};
use subtle::ConstantTimeEq;

use crate::{Config, DaemonAccess};

/// The access check for requests over the network.
#[derive(Debug)]
pub(crate) struct NetworkAccess {
    hosts: HostPolicy,
    access: DaemonAccess,
}

impl NetworkAccess {
    pub(crate) fn new(config: &Config) -> Self {
        let hosts = HostPolicy {
            loopback: config.address.ip().is_loopback(),
            hosts: config.settings.allowed_hosts.clone(),
            origins: config.settings.cors_allow_origin.clone(),
        };
        Self { hosts, access: config.access.clone() }
    }

    fn check_token(&self, path: &str, headers: &HeaderMap) -> server::Result<()> {
        let DaemonAccess::Token(token) = &self.access else { return Ok(()) };
        let is_guarded = path.starts_with("/v1/") || path == "/metrics";
        if !is_guarded || path == "/v1/health" {
            return Ok(());
        }
        let given = bearer_token(headers).unwrap_or_default();
        // In constant time, so that response times do not reveal how much of a guessed token is right.
        if bool::from(given.as_bytes().ct_eq(token.expose_secret().as_bytes())) {
            return Ok(());
        }
        Err(ProblemResponse::new(
            ProblemKind::Unauthorized,
            "send the daemon's token as `Authorization: Bearer …`. It was set with --token-file or TOMBOLO_TOKEN; a token that \
             the daemon generated is in the file `daemon-token` in its data directory, by default ~/.local/share/tombolo",
        ))
    }
}

/// The access check for requests from the same process, or through the tunnel that the daemon opened to its hub. The
/// daemon's owner chose that hub, so its requests need no token.
#[derive(Debug)]
pub(crate) struct InProcessAccess(HostPolicy);

impl InProcessAccess {
    pub(crate) fn new() -> Self {
        Self(HostPolicy { loopback: true, hosts: Vec::new(), origins: Vec::new() })
    }
}

impl AccessCheck for InProcessAccess {
    fn check(&self, head: &mut Parts) -> server::Result<()> {
        self.0.check(&head.headers)
    }
}

impl AccessCheck for NetworkAccess {
    fn check(&self, head: &mut Parts) -> server::Result<()> {
        self.hosts.check(&head.headers)?;
        self.check_token(head.uri.path(), &head.headers)
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    /// Such requests need no token, but their `Host` and `Origin` are checked like all others.
    #[test]
    fn in_process_requests_are_checked_for_host_and_origin() {
        for (host, origin, expected) in [
            ("localhost", None, None),
            ("evil.example", None, Some(ProblemKind::HostNotAllowed)),
            ("", None, Some(ProblemKind::HostNotAllowed)),
            ("localhost", Some("https://evil.example"), Some(ProblemKind::HostNotAllowed)),
        ] {
            let mut request = Request::get("/v1/sessions").header("host", host);
            if let Some(origin) = origin {
                request = request.header("origin", origin);
            }
            let (mut head, ()) = request.body(()).unwrap().into_parts();
            let rejected =
                InProcessAccess::new().check(&mut head).err().map(|response| response.problem().kind);
            assert_eq!(rejected, expected, "{host} {origin:?}");
        }
    }
}
