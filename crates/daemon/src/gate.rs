//! Who may come in: the `Host` and `Origin` of a request, and its token.

use std::{
    future::{Ready, ready},
    net::IpAddr,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{body::Body, response::IntoResponse};
use futures_util::future::Either;
use http::{HeaderMap, Request, Response, header};
use protocol::Kind;
use subtle::ConstantTimeEq;
use tower::Service;

use crate::{Access, Config, problem::ApiError};

/// What is checked before a request reaches a route.
#[derive(Debug)]
pub(crate) struct Rules {
    access: Access,
    /// On the loopback only known names are answered, so that no web page can rebind its own name to us.
    loopback: bool,
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Rules {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            access: config.access.clone(),
            loopback: config.address.ip().is_loopback(),
            hosts: config.hosts.clone(),
            origins: config.cors.origins.clone(),
        }
    }

    fn check<B>(&self, request: &Request<B>) -> Result<(), ApiError> {
        if self.loopback {
            self.check_names(request.headers())?;
        }
        self.check_token(request.uri().path(), request.headers())
    }

    fn check_names(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let host = text(headers, header::HOST).unwrap_or_default();
        if !self.known_host(host) {
            let detail = format!("`Host: {host}` is not a name of this daemon; allow it with --allow-host");
            return Err(ApiError::new(Kind::HostNotAllowed, detail));
        }
        let Some(origin) = text(headers, header::ORIGIN) else { return Ok(()) };
        let allowed = self.origins.iter().any(|allowed| allowed == "*" || allowed == origin);
        let same = origin.split_once("://").is_some_and(|(_, authority)| authority == host);
        if !allowed && !same {
            let detail =
                format!("pages of `{origin}` may not use this daemon; allow them with --cors-allow-origin");
            return Err(ApiError::new(Kind::HostNotAllowed, detail));
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

    fn check_token(&self, path: &str, headers: &HeaderMap) -> Result<(), ApiError> {
        let Access::Token(token) = &self.access else { return Ok(()) };
        if !path.starts_with("/v1/") || path == "/v1/health" {
            return Ok(());
        }
        let given = text(headers, header::AUTHORIZATION).and_then(bearer).unwrap_or_default();
        // Takes the same time whatever was guessed right.
        if bool::from(given.as_bytes().ct_eq(token.reveal().as_bytes())) {
            return Ok(());
        }
        Err(ApiError::new(Kind::Unauthorized, "send the daemon's token as `Authorization: Bearer …`"))
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or_default())
}

/// Lets those requests through that keep the rules.
#[derive(Debug, Clone)]
pub(crate) struct Gate<S> {
    pub(crate) rules: Arc<Rules>,
    pub(crate) inner: S,
}

impl<S, B> Service<Request<B>> for Gate<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Either<S::Future, Ready<Result<S::Response, S::Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        match self.rules.check(&request) {
            Ok(()) => Either::Left(self.inner.call(request)),
            Err(error) => Either::Right(ready(Ok(error.into_response()))),
        }
    }
}
