//! Who may come in: the `Host` and `Origin` of a request, and its token.

use http::{HeaderMap, request::Parts};
use protocol::Kind;
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
        Err(Refusal::new(Kind::Unauthorized, "send the daemon's token as `Authorization: Bearer …`"))
    }
}

impl Check for Rules {
    fn check(&self, head: &mut Parts) -> server::Result<()> {
        self.names.check(&head.headers)?;
        self.check_token(head.uri.path(), &head.headers)
    }
}
