//! The client itself: one server, one token, one pool of connections.

use std::{fmt, time::Duration};

use bytes::Bytes;
use reqwest::{
    Method, Request, RequestBuilder, Response, StatusCode, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap},
    redirect,
};
use serde::Serialize;

use crate::{
    Acp, Agents, Answer, Audit, Devices, Endpoint, Environments, Fs, Grants, Inbox, Info, Mcp, Processes,
    Relay, Runtimes, Sessions, Skills, Token, Tokens, Users, Waits, Workers,
    error::{Error, Refusal, Result},
};

/// How long a connection may take to be made. An address that does not answer shall not look like a slow server.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// Finds out about a peer that is gone without a word, while nothing is being said.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// The largest answer that is held in memory; files and streams are not.
const ANSWER_BYTES_MAX: usize = 128 << 20;

/// The header that makes it safe to send a message again.
pub(crate) const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// A client of one daemon. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    endpoint: Endpoint,
}

impl Client {
    /// A client of the daemon at `endpoint`. Connections are made when they are needed.
    pub fn new(endpoint: Endpoint, token: Option<&Token>) -> Result<Self> {
        let mut headers = HeaderMap::new();
        if let Some(token) = token {
            headers.insert(AUTHORIZATION, token.header());
        }
        let mut builder = reqwest::Client::builder()
            .default_headers(headers)
            .connect_timeout(CONNECT_MAX)
            .tcp_keepalive(KEEPALIVE)
            // A daemon never redirects; whoever does shall not be handed the token.
            .redirect(redirect::Policy::none());
        if endpoint.is_loopback() {
            builder = builder.no_proxy();
        }
        Ok(Self { http: builder.build()?, endpoint })
    }

    /// What carries requests, with the token.
    pub(crate) fn http(&self) -> &reqwest::Client {
        &self.http
    }

    /// Where the daemon is.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// `/v1/acp`: instances.
    pub fn acp(&self) -> Acp<'_> {
        Acp(self)
    }

    /// `/v1/agents`: the programs that can be run.
    pub fn agents(&self) -> Agents<'_> {
        Agents(self)
    }

    /// `/v1/fs`: files.
    pub fn fs(&self) -> Fs<'_> {
        Fs(self)
    }

    /// `/v1/config/mcp`: MCP servers of directories.
    pub fn mcp(&self) -> Mcp<'_> {
        Mcp(self)
    }

    /// `/v1/config/skills`: skills of directories.
    pub fn skills(&self) -> Skills<'_> {
        Skills(self)
    }

    /// `/v1/processes`: programs that a user runs.
    pub fn processes(&self) -> Processes<'_> {
        Processes(self)
    }

    /// `/v1/sessions`: conversations with any agent.
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(self)
    }

    /// `/v1/workers`: sessions as a backend watches them.
    pub fn workers(&self) -> Workers<'_> {
        Workers(self)
    }

    /// `/v1/waits`: what waits for a person.
    pub fn waits(&self) -> Waits<'_> {
        Waits(self)
    }

    /// The runtimes of a hub.
    pub fn runtimes(&self) -> Runtimes<'_> {
        Runtimes(self)
    }

    /// What waits for a person in all runtimes of a hub.
    pub fn inbox(&self) -> Inbox<'_> {
        Inbox(self)
    }

    /// Who may use a hub.
    pub fn users(&self) -> Users<'_> {
        Users(self)
    }

    /// What lets people into a hub.
    pub fn tokens(&self) -> Tokens<'_> {
        Tokens(self)
    }

    /// The devices that are lent through a hub.
    pub fn devices(&self) -> Devices<'_> {
        Devices(self)
    }

    /// What devices may offer and runtimes may use.
    pub fn grants(&self) -> Grants<'_> {
        Grants(self)
    }

    /// What sessions use of devices.
    pub fn environments(&self) -> Environments<'_> {
        Environments(self)
    }

    /// What is lent through a hub, and what was asked of it.
    pub fn relay(&self) -> Relay<'_> {
        Relay(self)
    }

    /// What was done through a hub.
    pub fn audit(&self) -> Audit<'_> {
        Audit(self)
    }

    /// What the daemon says of itself.
    pub fn info(&self) -> Info<'_> {
        Info(self)
    }

    /// A request to a route, given as the segments of its path.
    pub(crate) fn request(&self, method: Method, segments: &[&str]) -> RequestBuilder {
        let url: Url = self.endpoint.route(segments.iter().copied());
        self.http.request(method, url)
    }

    /// The answer to a request without a body.
    pub(crate) async fn ask<T>(
        &self,
        method: Method,
        segments: &[&str],
        query: &Query<'_>,
    ) -> Result<Answer<T>> {
        answer(self.request(method, segments).query(query)).await
    }

    /// The answer to a request with a body of JSON.
    pub(crate) async fn tell<T>(
        &self,
        method: Method,
        segments: &[&str],
        query: &Query<'_>,
        body: &(impl Serialize + ?Sized),
    ) -> Result<Answer<T>> {
        answer(self.request(method, segments).query(query).json(body)).await
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("endpoint", &self.endpoint.to_string()).finish_non_exhaustive()
    }
}

/// The parameters of a request; those that are `None` are left out.
pub(crate) type Query<'a> = [(&'static str, Option<&'a str>)];

/// Sends the request and takes its answer into memory; a refusal is an error.
pub(crate) async fn answer<T>(request: RequestBuilder) -> Result<Answer<T>> {
    let mut response = accepted(request).await?;
    let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
    Ok(Answer::new(status, headers, collect(response).await?))
}

/// Sends the request; the answer if it is not a refusal, with its body still to come.
pub(crate) async fn accepted(request: RequestBuilder) -> Result<Response> {
    let response = send(request).await?;
    let status = response.status();
    if status.is_success() || status == StatusCode::SWITCHING_PROTOCOLS {
        return Ok(response);
    }
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    let is_problem = essence.eq_ignore_ascii_case("application/problem+json");
    let body = collect(response).await?;
    if !is_problem {
        return Err(Error::unexpected(status, "it is neither a success nor a problem document", &body));
    }
    Err(Error::Problem(Box::new(Refusal::parse(status, body)?)))
}

/// Sends the request; once more if the connection ended before an answer began and that can do no harm.
///
/// A connection is kept for the next request, which may meet the server just when it closes it. Below us only what was not
/// sent at all is sent again.
pub(crate) async fn send(request: RequestBuilder) -> Result<Response> {
    let (http, request) = request.build_split();
    let request = request?;
    let again = if is_repeatable(&request) { request.try_clone() } else { None };
    match (http.execute(request).await, again) {
        (Err(error), Some(again)) if error.is_request() && !error.is_connect() && !error.is_timeout() => {
            Ok(http.execute(again).await?)
        }
        (sent, _) => Ok(sent?),
    }
}

/// Whether a request that was sent twice is the same as one that was sent once.
fn is_repeatable(request: &Request) -> bool {
    request.method() == Method::GET || request.headers().contains_key(IDEMPOTENCY_KEY)
}

async fn collect(mut response: Response) -> Result<Bytes> {
    let status = response.status();
    let Some(first) = response.chunk().await? else { return Ok(Bytes::new()) };
    let Some(second) = response.chunk().await? else { return Ok(first) };
    let mut whole = Vec::from(first);
    whole.extend_from_slice(&second);
    while let Some(piece) = response.chunk().await? {
        if whole.len() + piece.len() > ANSWER_BYTES_MAX {
            let reason = format!("it is larger than {ANSWER_BYTES_MAX} bytes");
            return Err(Error::unexpected(status, reason, &whole));
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.into())
}

#[cfg(test)]
mod tests;
