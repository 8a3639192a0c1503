//! Where MCP clients come in.

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

use crate::{server::Server, sessions::LegacySessions};

/// The longest message of a client: what `write_file` writes at once.
const BODY_BYTES_MAX: usize = 16 << 20;

/// How often a stream says that it is alive; so a client that is gone is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// How long the last answers may take to be sent.
const FAREWELL_MAX: Duration = Duration::from_millis(500);

/// The header that names the session of a request.
const SESSION_ID: &str = "mcp-session-id";

/// Where MCP clients come into an environment. Clones share their sessions.
#[derive(Clone)]
pub struct Door {
    service: StreamableHttpService<Server, LegacySessions>,
    server: Server,
    sessions: Arc<LegacySessions>,
    /// Ends what goes on, …
    stop: CancellationToken,
    /// … and this the streams on which that is told.
    hang_up: CancellationToken,
    tasks: TaskTracker,
}

/// Why a request is not answered.
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
    /// A door to an environment, until `stop`. When the device comes back, or other things are granted, that is another
    /// environment, which clients have from then on in the sessions that they have.
    ///
    /// `Host` and `Origin` are for who mounts it to look at, and who may come in.
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
        let server = Server::new(environment, stop.clone(), tasks.clone());
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

    /// Ends what goes on in it: whoever waits is told. Nobody comes in any more.
    pub async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        tokio::time::sleep(FAREWELL_MAX).await;
        self.hang_up.cancel();
    }
}
