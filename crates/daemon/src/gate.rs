//! Who may come in: the `Host` and `Origin` of a request, and its token.

use http::{HeaderMap, request::Parts};
use protocol::ProblemKind;
use server::{Check, Names, Refusal, bearer};
use subtle::ConstantTimeEq;

use crate::{Access, Config};

/// What is checked before a request reaches a route.
#[derive(Debug)]
pub(crate) struct Rules {
    names: Names,
    access: Access,
}

impl Rules {
    pub(crate) fn new(config: &Config) -> Self {
        let names = Names {
            loopback: config.address.ip().is_loopback(),
            hosts: config.hosts.clone(),
            origins: config.cors.origins.clone(),
        };
        Self { names, access: config.access.clone() }
    }

    fn check_token(&self, path: &str, headers: &HeaderMap) -> server::Result<()> {
        let Access::Token(token) = &self.access else { return Ok(()) };
        let is_guarded = path.starts_with("/v1/") || path == "/metrics";
        if !is_guarded || path == "/v1/health" {
            return Ok(());
        }
        let given = bearer(headers).unwrap_or_default();
        // Takes the same time whatever was guessed right.
        if bool::from(given.as_bytes().ct_eq(token.reveal().as_bytes())) {
            return Ok(());
        }
        Err(Refusal::new(ProblemKind::Unauthorized, "send the daemon's token as `Authorization: Bearer …`"))
    }
}

/// What is checked of requests that come in without an address: from the same process, or through the tunnel that the
/// daemon itself made to its hub. Whoever asks there was chosen by the daemon's owner, and needs no token.
#[derive(Debug)]
pub(crate) struct Inside(Names);

impl Inside {
    pub(crate) fn new() -> Self {
        Self(Names { loopback: true, hosts: Vec::new(), origins: Vec::new() })
    }
}

impl Check for Inside {
    fn check(&self, head: &mut Parts) -> server::Result<()> {
        self.0.check(&head.headers)
    }
}

impl Check for Rules {
    fn check(&self, head: &mut Parts) -> server::Result<()> {
        self.names.check(&head.headers)?;
        self.check_token(head.uri.path(), &head.headers)
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    /// Who comes from inside needs no token; `Host` and `Origin` are checked as for everybody.
    #[test]
    fn names_are_checked_inside_too() {
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
            let refused = Inside::new().check(&mut head).err().map(|refusal| refusal.problem().kind);
            assert_eq!(refused, expected, "{host} {origin:?}");
        }
    }
}
