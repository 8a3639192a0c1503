//! Asking servers: who is asked, how long one waits, and how large an answer may be.

use std::{path::PathBuf, time::Duration};

use backoff::Backoff;
use reqwest::{Certificate, Client, RequestBuilder, Response, StatusCode, Url};

use super::{Error, Fault};

/// How long a connection may take to be made. A sandbox without a network shall not wait long for the next source.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// How long a server may be silent, unless the configuration says otherwise.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// The largest answer that is held in memory: what a registry says of a package with very many versions.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// How often something is asked before a server counts as failing.
pub(super) const TRIES_MAX: u32 = 4;

/// How often a server is called that does not pick up. Most that fail are not there at all.
const CALLS_MAX: u32 = 2;

/// The shortest and the longest delay before a request is sent again.
const RETRY_MIN: Duration = Duration::from_millis(250);
const RETRY_MAX: Duration = Duration::from_secs(2);

/// Something that stands in for servers: what is at `from` is found at `to`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    /// How the addresses begin that it stands for; all, if none.
    pub from: Option<String>,
    /// What they begin with instead. One for all adds the host and the path behind it.
    pub to: String,
}

impl Mirror {
    /// From `FROM=TO`, or `TO` alone.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_url = |text: &str| text.starts_with("http://") || text.starts_with("https://");
        let (from, to) = match text.split_once('=') {
            Some((from, to)) if is_url(to) => (Some(from.to_owned()), to),
            _ => (None, text),
        };
        if !is_url(to) || from.as_ref().is_some_and(|from| !is_url(from)) {
            return Err(format!("`{text}` is not a mirror: expected `URL` or `PREFIX=URL`"));
        }
        Ok(Self { from, to: to.trim_end_matches('/').to_owned() })
    }

    /// Where `url` is on this mirror.
    pub(crate) fn place(&self, url: &str) -> Option<String> {
        match &self.from {
            Some(from) => url.strip_prefix(from.as_str()).map(|rest| format!("{}{rest}", self.to)),
            None => url.split_once("://").map(|(_, rest)| format!("{}/{rest}", self.to)),
        }
    }
}

/// Asks servers.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    client: Client,
    silence_max: Duration,
}

impl Http {
    /// With certificates of the user's own besides those of the system.
    pub(crate) fn new(certificates: &[PathBuf], silence_max: Option<Duration>) -> Result<Self, Error> {
        let silence_max = silence_max.unwrap_or(SILENCE_MAX);
        let mut builder = Client::builder()
            .user_agent(concat!("tombolo/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_MAX)
            .read_timeout(silence_max);
        for path in certificates {
            // A file that cannot be read is the business of whoever named it: a server that needs it will say no.
            let Ok(pem) = std::fs::read(path) else { continue };
            let Ok(certificates) = Certificate::from_pem_bundle(&pem) else { continue };
            builder = builder.tls_certs_merge(certificates);
        }
        let client = builder.build().map_err(|error| Error::Store {
            doing: "create an HTTP client",
            source: std::sync::Arc::new(std::io::Error::other(error.without_url())),
        })?;
        Ok(Self { client, silence_max })
    }

    pub(super) fn get(&self, url: &str) -> Result<RequestBuilder, Fault> {
        let url: Url = url.parse().map_err(|_| Fault::Answer(format!("`{url}` is not a valid URL")))?;
        Ok(self.client.get(url))
    }

    /// What is at `url`, as a text. Nothing if there is nothing.
    pub(super) async fn text(
        &self,
        url: &str,
        prepare: impl Fn(RequestBuilder) -> RequestBuilder,
    ) -> Result<Option<String>, Fault> {
        let mut tries = Tries::default();
        loop {
            let tried = self.text_once(prepare(self.get(url)?), url).await;
            match tried {
                Err(fault) => tries.again(fault).await?,
                done => return done,
            }
        }
    }

    async fn text_once(&self, request: RequestBuilder, url: &str) -> Result<Option<String>, Fault> {
        let mut response = request.send().await.map_err(|error| self.fault(url, &error))?;
        match response.status() {
            StatusCode::NOT_FOUND | StatusCode::GONE => return Ok(None),
            _ => check(url, &response)?,
        }
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| self.fault(url, &error))? {
            if body.len() + piece.len() > ANSWER_BYTES_MAX {
                return Err(Fault::TooLarge { most: ANSWER_BYTES_MAX as u64 });
            }
            body.extend_from_slice(&piece);
        }
        String::from_utf8(body).map(Some).map_err(|_| Fault::Answer("the response is not text".into()))
    }

    /// What a failed request means.
    pub(super) fn fault(&self, url: &str, error: &reqwest::Error) -> Fault {
        let host = host(url);
        if error.is_timeout() && !error.is_connect() {
            return Fault::Silent { host, waited: self.silence_max };
        }
        // The outer words say that a request failed; the innermost say why.
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        Fault::Unreachable { host, reason: cause.to_string() }
    }
}

/// Counts what failed and might work in a moment.
#[derive(Debug)]
pub(super) struct Tries {
    failed: u32,
    unanswered: u32,
    backoff: Backoff,
}

impl Default for Tries {
    fn default() -> Self {
        Self { failed: 0, unanswered: 0, backoff: Backoff::new(RETRY_MIN, RETRY_MAX) }
    }
}

impl Tries {
    /// Waits before the next try; gives the fault back if there is none.
    pub(super) async fn again(&mut self, fault: Fault) -> Result<(), Fault> {
        self.failed += 1;
        if matches!(fault, Fault::Unreachable { .. }) {
            self.unanswered += 1;
        }
        if !fault.is_transient() || self.failed >= TRIES_MAX || self.unanswered >= CALLS_MAX {
            return Err(fault);
        }
        self.backoff.wait().await;
        Ok(())
    }

    /// Something came, so whatever fails next is a new trouble.
    pub(super) fn moved(&mut self) {
        *self = Self::default();
    }
}

/// The refusal of a response, if it is one.
pub(super) fn check(url: &str, response: &Response) -> Result<(), Fault> {
    let status = response.status();
    if status.is_success() { Ok(()) } else { Err(Fault::Status { host: host(url), status: status.as_u16() }) }
}

/// The host of a URL, for messages: what comes behind it may hold secrets.
pub(super) fn host(url: &str) -> String {
    let parsed: Option<Url> = url.parse().ok();
    let host = parsed.as_ref().and_then(|url| url.host_str().map(|host| (host, url.port())));
    match host {
        Some((host, Some(port))) => format!("{host}:{port}"),
        Some((host, None)) => host.to_owned(),
        None => "the server".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// daemon-7: every base URL can be overridden.
    #[test]
    fn a_mirror_stands_for_one_address_or_for_all() {
        let one = Mirror::parse("https://a.example/b=http://m.example/").unwrap();
        assert_eq!(one.place("https://a.example/b/c").unwrap(), "http://m.example/c");
        assert_eq!(one.place("https://other.example/b/c"), None);
        let all = Mirror::parse("http://m.example/x").unwrap();
        assert_eq!(all.place("https://a.example/b?c=d").unwrap(), "http://m.example/x/a.example/b?c=d");
        for bad in ["", "m.example", "x=http://m.example", "ftp://m.example"] {
            assert!(Mirror::parse(bad).is_err(), "{bad}");
        }
    }
}
