//! Where MCP clients come in.

use std::{convert::Infallible, fmt::Display, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use relay::Environment;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt;

use crate::server::Server;

/// How many sessions of clients of older revisions there may be in one environment: agents have one each.
const SESSIONS_MAX: usize = 64;

/// How long such a session may be idle. It must be longer than a command may be silent.
const IDLE_MAX: Duration = Duration::from_secs(2 * 3600);

/// The longest message of a client: what `write_file` writes at once.
const BODY_BYTES_MAX: usize = 16 << 20;

/// How often a stream says that it is alive; so a client that is gone is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// How long the last answers may take to be sent.
const FAREWELL_MAX: Duration = Duration::from_millis(500);

/// Where MCP clients come into an environment. Clones share their sessions.
#[derive(Clone)]
pub struct Door {
    service: StreamableHttpService<Server, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    /// Ends what goes on, …
    stop: CancellationToken,
    /// … and this the streams on which that is told.
    hang_up: CancellationToken,
    tasks: TaskTracker,
}

impl Door {
    /// A door to an environment, until `stop`. When the device comes back, or other things are granted, that is another
    /// environment, which clients have from then on in the sessions that they have.
    ///
    /// `Host` and `Origin` are for who mounts it to look at, and who may come in.
    pub fn new(environment: watch::Receiver<Environment>, stop: &CancellationToken) -> Self {
        let (hang_up, tasks) = (stop.child_token(), TaskTracker::new());
        let stop = stop.child_token();
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(IDLE_MAX);
        let sessions = Arc::new(sessions);
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_max_request_body_bytes(BODY_BYTES_MAX)
            .with_sse_keep_alive(Some(KEEP_ALIVE))
            .with_cancellation_token(hang_up.clone());
        let server = Server::new(environment, stop.clone(), tasks.clone());
        let service = StreamableHttpService::new(move || Ok(server.clone()), sessions.clone(), config);
        Self { service, sessions, stop, hang_up, tasks }
    }

    /// Answers a request.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<BoxBody<Bytes, Infallible>>
    where
        B: Body<Error: Display, Data: Send> + Send + 'static,
    {
        let opens = request.method() == Method::POST && !request.headers().contains_key("mcp-session-id");
        if self.stop.is_cancelled() || (opens && self.sessions.sessions.read().await.len() >= SESSIONS_MAX) {
            let mut response = Response::new(Full::default().boxed());
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            return response;
        }
        let Ok(response) = self.service.clone().oneshot(request).await;
        response
    }

    /// Ends what goes on in it: whoever waits is told. Nobody comes in any more.
    pub async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        tokio::time::sleep(FAREWELL_MAX).await;
        self.hang_up.cancel();
    }
}
