//! A client of one server, with one token and one connection pool.

use std::{fmt, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use protocol::RuntimeId;
use reqwest::{
    Method, Request, RequestBuilder, Response, StatusCode, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap},
    redirect,
};
use serde::Serialize;

use crate::{
    AcpApi, AgentsApi, ApiResponse, AuditApi, DevicesApi, Endpoint, EnvironmentsApi, FsApi, GrantsApi,
    InboxApi, InfoApi, McpApi, ProcessesApi, RelayApi, RuntimesApi, SessionsApi, SkillsApi, Token, TokensApi,
    UsersApi, WaitsApi, WorkersApi,
    error::{Error, ProblemDetails, Result},
    local_listener::LocalListener,
};

/// How long connecting may take. An unreachable address should fail quickly, and not look like a slow server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The interval of TCP keepalive probes, which detect a vanished server while a connection is idle.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// The largest response that is read into memory. Files and streams are not.
const RESPONSE_BYTES_MAX: usize = 128 << 20;

/// The header that makes it safe to repeat a request.
pub(crate) const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// A client of one daemon or hub. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    endpoint: Endpoint,
}

impl Client {
    /// A client of the server at `endpoint`. It connects with the first request.
    pub fn new(endpoint: Endpoint, token: Option<&Token>) -> Result<Self> {
        let builder = Self::builder(&endpoint, token);
        Ok(Self { http: builder.build()?, endpoint })
    }

    /// A client of a server on this machine, whose endpoint is from [`Endpoint::at_loopback`]. Before each connection,
    /// `find_listener` returns where the server listens; without an answer, the client does not connect.
    pub fn new_local(
        endpoint: Endpoint,
        token: &Token,
        find_listener: impl Fn() -> Option<SocketAddr> + Send + Sync + 'static,
    ) -> Result<Self> {
        let builder = Self::builder(&endpoint, Some(token));
        let http = builder.dns_resolver(Arc::new(LocalListener(find_listener))).build()?;
        Ok(Self { http, endpoint })
    }

    fn builder(endpoint: &Endpoint, token: Option<&Token>) -> reqwest::ClientBuilder {
        let mut headers = HeaderMap::new();
        if let Some(token) = token {
            headers.insert(AUTHORIZATION, token.header());
        }
        let mut builder = reqwest::Client::builder()
            .default_headers(headers)
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_keepalive(KEEPALIVE)
            // Our servers never redirect. Following a redirect would send the token to another server.
            .redirect(redirect::Policy::none());
        if endpoint.is_loopback() {
            builder = builder.no_proxy();
        }
        builder
    }

    /// The HTTP client, which adds the token to requests.
    pub(crate) fn http(&self) -> &reqwest::Client {
        &self.http
    }

    /// The address of the server.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// If this daemon is reached through a hub: a client of that hub, with the same token, and the daemon's name there.
    pub fn hub_of_runtime(&self) -> Option<(Self, RuntimeId)> {
        let (endpoint, runtime) = self.endpoint.hub_of_runtime()?;
        Some((Self { http: self.http.clone(), endpoint }, runtime))
    }

    /// `/v1/acp`: ACP instances.
    pub fn acp(&self) -> AcpApi<'_> {
        AcpApi(self)
    }

    /// `/v1/agents`: the known agents.
    pub fn agents(&self) -> AgentsApi<'_> {
        AgentsApi(self)
    }

    /// `/v1/fs`: files.
    pub fn fs(&self) -> FsApi<'_> {
        FsApi(self)
    }

    /// `/v1/config/mcp`: the MCP servers of directories.
    pub fn mcp(&self) -> McpApi<'_> {
        McpApi(self)
    }

    /// `/v1/config/skills`: the skills of directories.
    pub fn skills(&self) -> SkillsApi<'_> {
        SkillsApi(self)
    }

    /// `/v1/processes`: programs that the user runs.
    pub fn processes(&self) -> ProcessesApi<'_> {
        ProcessesApi(self)
    }

    /// `/v1/sessions`: conversations with any agent.
    pub fn sessions(&self) -> SessionsApi<'_> {
        SessionsApi(self)
    }

    /// `/v1/workers`: sessions as a hub observes them.
    pub fn workers(&self) -> WorkersApi<'_> {
        WorkersApi(self)
    }

    /// `/v1/waits`: questions and permissions that wait for a person.
    pub fn waits(&self) -> WaitsApi<'_> {
        WaitsApi(self)
    }

    /// `/api/runtimes`: the runtimes of a hub.
    pub fn runtimes(&self) -> RuntimesApi<'_> {
        RuntimesApi(self)
    }

    /// `/api/waits`: the open waits in all runtimes of a hub.
    pub fn inbox(&self) -> InboxApi<'_> {
        InboxApi(self)
    }

    /// `/api/users`: the users of a hub.
    pub fn users(&self) -> UsersApi<'_> {
        UsersApi(self)
    }

    /// `/api/tokens`: the tokens of users.
    pub fn tokens(&self) -> TokensApi<'_> {
        TokensApi(self)
    }

    /// `/api/devices`: the devices that are connected to a hub.
    pub fn devices(&self) -> DevicesApi<'_> {
        DevicesApi(self)
    }

    /// `/api/grants`: the permission of runtimes to use devices.
    pub fn grants(&self) -> GrantsApi<'_> {
        GrantsApi(self)
    }

    /// `/api/v1/relay/environments`: the access of sessions to devices.
    pub fn environments(&self) -> EnvironmentsApi<'_> {
        EnvironmentsApi(self)
    }

    /// `/api/v1/relay`: the state and the audit log of the relay.
    pub fn relay(&self) -> RelayApi<'_> {
        RelayApi(self)
    }

    /// `/api/audit`: the audit log of a hub.
    pub fn audit(&self) -> AuditApi<'_> {
        AuditApi(self)
    }

    /// Health, metrics and OpenAPI document of a server.
    pub fn info(&self) -> InfoApi<'_> {
        InfoApi(self)
    }

    /// Starts a request to the route with these path segments.
    pub(crate) fn request(&self, method: Method, segments: &[&str]) -> RequestBuilder {
        let url: Url = self.endpoint.route(segments.iter().copied());
        self.http.request(method, url)
    }

    /// Sends a request without a body.
    pub(crate) async fn call<T>(
        &self,
        method: Method,
        segments: &[&str],
        query: &QueryParameters<'_>,
    ) -> Result<ApiResponse<T>> {
        send_and_collect(self.request(method, segments).query(query)).await
    }

    /// Sends a request with a JSON body.
    pub(crate) async fn call_with_body<T>(
        &self,
        method: Method,
        segments: &[&str],
        query: &QueryParameters<'_>,
        body: &(impl Serialize + ?Sized),
    ) -> Result<ApiResponse<T>> {
        send_and_collect(self.request(method, segments).query(query).json(body)).await
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("endpoint", &self.endpoint.to_string()).finish_non_exhaustive()
    }
}

/// The query parameters of a request. Parameters with `None` are left out.
pub(crate) type QueryParameters<'a> = [(&'static str, Option<&'a str>)];

/// Sends the request and reads the response into memory. A problem document is an error.
pub(crate) async fn send_and_collect<T>(request: RequestBuilder) -> Result<ApiResponse<T>> {
    let mut response = send_checked(request).await?;
    let status = response.status();
    let headers = std::mem::take(response.headers_mut());
    Ok(ApiResponse::new(status, headers, collect(response).await?))
}

/// Sends the request and returns the response without its body. A problem document is an error.
pub(crate) async fn send_checked(request: RequestBuilder) -> Result<Response> {
    let response = send_with_retry(request).await?;
    let status = response.status();
    if status.is_success() || status == StatusCode::SWITCHING_PROTOCOLS {
        return Ok(response);
    }
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    let is_problem = essence.eq_ignore_ascii_case("application/problem+json");
    let body = collect(response).await?;
    if !is_problem {
        return Err(Error::unexpected(
            status,
            "it is neither a success nor a problem document; is this a Tombolo server?",
            &body,
        ));
    }
    Err(Error::Problem(Box::new(ProblemDetails::parse(status, body)?)))
}

/// Sends the request. Repeats it once if the connection was lost before the response started and a repetition is harmless.
///
/// The server may close a pooled connection just when the next request is sent on it. The HTTP library repeats only requests
/// of which nothing was sent yet, so all others are repeated here.
pub(crate) async fn send_with_retry(request: RequestBuilder) -> Result<Response> {
    let (http, request) = request.build_split();
    let request = request?;
    let retry = if is_repeatable(&request) { request.try_clone() } else { None };
    match (http.execute(request).await, retry) {
        (Err(error), Some(retry)) if error.is_request() && !error.is_connect() && !error.is_timeout() => {
            Ok(http.execute(retry).await?)
        }
        (result, _) => Ok(result?),
    }
}

/// Whether sending the request twice has the same effect as sending it once.
fn is_repeatable(request: &Request) -> bool {
    request.method() == Method::GET || request.headers().contains_key(IDEMPOTENCY_KEY)
}

async fn collect(mut response: Response) -> Result<Bytes> {
    let status = response.status();
    let Some(first) = response.chunk().await? else { return Ok(Bytes::new()) };
    let Some(second) = response.chunk().await? else { return Ok(first) };
    let mut whole = Vec::from(first);
    whole.extend_from_slice(&second);
    while let Some(chunk) = response.chunk().await? {
        if whole.len() + chunk.len() > RESPONSE_BYTES_MAX {
            let reason = format!("it is larger than {RESPONSE_BYTES_MAX} bytes");
            return Err(Error::unexpected(status, reason, &whole));
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(whole.into())
}

#[cfg(test)]
mod tests;
