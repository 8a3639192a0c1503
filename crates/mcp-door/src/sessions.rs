//! The sessions of MCP clients of revisions before 2026-07-28.

use std::{
    collections::HashMap,
    future::ready,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::{Stream, StreamExt, stream};
use parking_lot::Mutex;
use rmcp::{
    model::{ClientJsonRpcMessage, ProtocolVersion, ServerJsonRpcMessage, ServerResult},
    transport::{
        WorkerTransport,
        common::server_side_http::session_id,
        streamable_http_server::{
            SessionId, SessionManager,
            session::{
                ServerSseMessage,
                local::{
                    EventIdParseError, LocalSessionHandle, LocalSessionWorker, SessionConfig, SessionError,
                    create_local_session,
                },
            },
        },
    },
};
use tokio::sync::mpsc;

/// The number of sessions of one environment. An agent has one, but many clients never end theirs.
const SESSIONS_MAX: usize = 64;

/// How long a session may be idle. It must be longer than a command may be silent.
const IDLE_MAX: Duration = Duration::from_secs(2 * 3600);

/// How long a client whose stream broke waits before it resumes it.
const RESUME_AFTER: Duration = Duration::from_secs(3);

/// The sessions of one environment. When there is no room for another, the session that has been idle longest is ended: its
/// client gets 404 for its next request and, as the protocol wants, begins a new session.
#[derive(Default)]
pub(crate) struct LegacySessions {
    all: Mutex<HashMap<SessionId, Session>>,
}

#[derive(Clone)]
struct Session {
    handle: LocalSessionHandle,
    activity: Arc<SessionUse>,
    /// Whether the client knows the event without data with which a stream begins, so that it can be resumed. Clients of
    /// revisions before 2025-11-25 parse its data as JSON, and at least Gemini then drops the whole server.
    takes_priming: bool,
}

/// The use of a session, from which its idle time follows.
struct SessionUse {
    open_streams: AtomicUsize,
    last_used: Mutex<Instant>,
}

/// A stream that is open to a client. Its session is not idle.
struct OpenStream(Arc<SessionUse>);

/// An error of a session.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionsError {
    #[error("all {SESSIONS_MAX} MCP sessions of the environment are in use")]
    Full,
    #[error("no such session")]
    NotFound,
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("invalid `Last-Event-ID`")]
    EventId(#[from] EventIdParseError),
}

impl LegacySessions {
    /// Whether a session of this id exists.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.all.lock().contains_key(id)
    }

    /// Whether another session can be opened now.
    pub(crate) fn has_room(&self) -> bool {
        let all = self.all.lock();
        all.len() < SESSIONS_MAX || all.values().any(|session| session.activity.is_idle())
    }

    /// Finds a session and marks it as used.
    fn used(&self, id: &SessionId) -> Result<Session, SessionsError> {
        let session = self.all.lock().get(id).cloned().ok_or(SessionsError::NotFound)?;
        session.activity.touch();
        Ok(session)
    }
}

impl SessionManager for LegacySessions {
    type Error = SessionsError;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionsError> {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(IDLE_MAX);
        config.sse_retry = Some(RESUME_AFTER);
        let id = session_id();
        let (handle, worker) = create_local_session(id.clone(), config);
        let session = Session { handle, activity: Arc::default(), takes_priming: false };
        let evicted = {
            let mut all = self.all.lock();
            let evicted =
                (all.len() >= SESSIONS_MAX).then(|| remove_idle(&mut all).ok_or(SessionsError::Full));
            let evicted = evicted.transpose()?;
            all.insert(id.clone(), session);
            evicted
        };
        if let Some(evicted) = evicted {
            // The session may have ended meanwhile.
            let _ = evicted.handle.close().await;
        }
        Ok((id, WorkerTransport::spawn(worker)))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionsError> {
        let response = self.used(id)?.handle.initialize(message).await?;
        if let ServerJsonRpcMessage::Response(response) = &response
            && let ServerResult::InitializeResult(agreed) = &response.result
            && let Some(session) = self.all.lock().get_mut(id)
        {
            session.takes_priming = agreed.protocol_version >= ProtocolVersion::V_2025_11_25;
        }
        Ok(response)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionsError> {
        Ok(self.contains(id))
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionsError> {
        let session = self.all.lock().remove(id);
        match session {
            Some(session) => match session.handle.close().await {
                Ok(()) | Err(SessionError::SessionServiceTerminated) => Ok(()),
                Err(error) => Err(error.into()),
            },
            None => Ok(()),
        }
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        let session = self.used(id)?;
        let open = session.open_stream();
        let receiver = session.handle.establish_request_wise_channel().await?;
        session.handle.push_message(message, receiver.http_request_id).await?;
        Ok(session.events(open, receiver.inner))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionsError> {
        Ok(self.used(id)?.handle.push_message(message, None).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        let session = self.used(id)?;
        let open = session.open_stream();
        let receiver = session.handle.establish_common_channel().await?;
        let priming = session.takes_priming.then(|| ServerSseMessage::priming("0", RESUME_AFTER));
        Ok(stream::iter(priming).chain(session.events(open, receiver.inner)))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        let session = self.used(id)?;
        let open = session.open_stream();
        let receiver = session.handle.resume(last_event_id.parse()?).await?;
        Ok(session.events(open, receiver.inner))
    }
}

impl Session {
    fn open_stream(&self) -> OpenStream {
        self.activity.open_streams.fetch_add(1, Ordering::Relaxed);
        OpenStream(Arc::clone(&self.activity))
    }

    /// The events of a stream, as the client of the session understands them.
    fn events(
        &self,
        open: OpenStream,
        mut receiver: mpsc::Receiver<ServerSseMessage>,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + use<> {
        let takes_priming = self.takes_priming;
        stream::poll_fn(move |context| receiver.poll_recv(context)).filter(move |event| {
            let _ = &open;
            ready(takes_priming || event.message.is_some())
        })
    }
}

impl Default for SessionUse {
    fn default() -> Self {
        Self { open_streams: AtomicUsize::new(0), last_used: Mutex::new(Instant::now()) }
    }
}

impl SessionUse {
    fn is_idle(&self) -> bool {
        self.open_streams.load(Ordering::Relaxed) == 0
    }

    fn touch(&self) {
        *self.last_used.lock() = Instant::now();
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.touch();
        self.0.open_streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Removes the session that has been idle longest, if one is idle.
fn remove_idle(all: &mut HashMap<SessionId, Session>) -> Option<Session> {
    let idle = all.iter().filter(|(_, session)| session.activity.is_idle());
    let (oldest, _) = idle.min_by_key(|(_, session)| *session.activity.last_used.lock())?;
    let oldest = oldest.clone();
    all.remove(&oldest)
}
