//! The HTTP endpoint of MCP clients.

use std::{convert::Infallible, fmt::Display, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use relay::Environment;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt;

use crate::{server::EnvironmentServer, sessions::LegacySessions};

/// The longest message of a client. It bounds the size of a file that `write_file` writes.
const BODY_BYTES_MAX: usize = 16 << 20;

/// The interval of keep-alive events on a stream. Writing them fails when the client has disconnected.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// How long the last responses may take to be sent.
const FAREWELL_MAX: Duration = Duration::from_millis(500);

/// The header that names the session of a request.
const SESSION_ID: &str = "mcp-session-id";

/// The HTTP endpoint of MCP clients for one environment. Clones share their sessions.
#[derive(Clone)]
pub struct Door {
    service: StreamableHttpService<EnvironmentServer, LegacySessions>,
    server: EnvironmentServer,
    sessions: Arc<LegacySessions>,
    /// Ends running calls.
    stop: CancellationToken,
    /// Ends the streams, after the responses to the ended calls were sent on them.
    hang_up: CancellationToken,
    tasks: TaskTracker,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DoorError {
    /// The environment has ended, or its host is shutting down.
    #[error("the environment has ended, or the hub is shutting down")]
    Closed,
    /// A client wants to open a session, and every session has a stream open.
    #[error("all MCP sessions of the environment are in use; end one, or try again later")]
    Full,
}

impl Door {
    /// Serves an environment until `stop`. When the device reconnects or its grants change, `environment` gets a new value, which
    /// existing sessions use from then on.
    ///
    /// The caller checks `Host`, `Origin` and the authorisation of each request.
    pub fn new(environment: watch::Receiver<Environment>, stop: &CancellationToken) -> Self {
        let (hang_up, tasks) = (stop.child_token(), TaskTracker::new());
        let stop = stop.child_token();
        let sessions = Arc::new(LegacySessions::default());
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_max_request_body_bytes(BODY_BYTES_MAX)
            // The sessions send priming events themselves, to the clients that understand them.
            .with_sse_retry(None)
            .with_sse_keep_alive(Some(KEEP_ALIVE))
            .with_cancellation_token(hang_up.clone());
        let server = EnvironmentServer::new(environment, stop.clone(), tasks.clone());
        let per_client = server.clone();
        let service = StreamableHttpService::new(move || Ok(per_client.clone()), sessions.clone(), config);
        Self { service, server, sessions, stop, hang_up, tasks }
    }

    /// Answers a request.
    ///
    /// # Errors
    /// [`DoorError::Closed`] after [`Door::close`]. [`DoorError::Full`] if it would open a session and there is no room.
    pub async fn answer<B>(
        &self,
        request: Request<B>,
    ) -> Result<Response<BoxBody<Bytes, Infallible>>, DoorError>
    where
        B: Body<Error: Display, Data: Send> + Send + 'static,
    {
        if self.stop.is_cancelled() {
            return Err(DoorError::Closed);
        }
        self.server.prepare(request.headers()).await;
        let is_delete = request.method() == Method::DELETE;
        let session = request.headers().get(SESSION_ID).and_then(|id| id.to_str().ok());
        let (has_id, is_known) = (session.is_some(), session.is_some_and(|id| self.sessions.contains(id)));
        let Ok(mut response) = self.service.clone().oneshot(request).await;
        match response.status() {
            // rmcp accepts every DELETE that names a session, also one that does not exist.
            StatusCode::ACCEPTED if is_delete => {
                let status = if is_known { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND };
                *response.status_mut() = status;
            }
            // rmcp's answer when `LegacySessions` refuses to create a session.
            StatusCode::INTERNAL_SERVER_ERROR if !has_id && !self.sessions.has_room() => {
                return Err(DoorError::Full);
            }
            _ => {}
        }
        Ok(response)
    }

    /// Refuses new requests and ends running calls, which their clients receive as a failure.
    pub async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        tokio::time::sleep(FAREWELL_MAX).await;
        self.hang_up.cancel();
    }
}
