//! `/v1/sessions`: conversations with any agent, through one API.

use jiff::Timestamp;
use protocol::{
    AgentName, Author, IdempotencyKey, InputId, SessionId, WaitId,
    lending::EnvironmentSpec,
    search::SearchPage,
    sessions::{
        AnswerPermissionRequest, AnswerQuestionRequest, CreateSessionRequest, EditInputRequest, EventPage,
        MessageAccepted, RejectQuestionRequest, SendMessageRequest, Session, SessionCreated,
        SessionInputList, SessionList, SessionSnapshot, TranscriptPage,
    },
};
use reqwest::Method;
use serde::Serialize;

use crate::{ApiResponse, Client, Result, SessionEvents, client};

/// The sessions of a daemon.
#[derive(Debug, Clone, Copy)]
pub struct SessionsApi<'a>(pub(crate) &'a Client);

/// Which page of events to read.
#[derive(Debug, Clone, Copy, Default)]
pub struct EventPageOptions {
    /// The `seq` of the last event that was read.
    pub offset: u64,
    /// The maximum number of events; the daemon's default if `None`.
    pub limit: Option<u32>,
    /// Whether to include the agent's original messages.
    pub include_raw: bool,
}

/// Which sessions to list: those that match every given criterion.
#[derive(Debug, Clone, Default)]
pub struct SessionListOptions {
    /// The last event was recorded at or after this time.
    pub since: Option<Timestamp>,
    /// The agent.
    pub agent: Option<AgentName>,
    /// The working directory.
    pub directory: Option<String>,
    /// The state, as the API spells it.
    pub state: Option<String>,
}

impl SessionsApi<'_> {
    /// Lists the sessions that match, the most recently used first.
    pub async fn list(self, options: &SessionListOptions) -> Result<ApiResponse<SessionList>> {
        let SessionListOptions { since, agent, directory, state } = options;
        let since = since.map(|since| since.to_string());
        let query = [
            ("since", since.as_deref()),
            ("agent", agent.as_ref().map(AgentName::as_str)),
            ("directory", directory.as_deref()),
            ("state", state.as_deref()),
        ];
        self.0.call(Method::GET, &["v1", "sessions"], &query).await
    }

    /// Finds text in the titles and messages of all sessions. `cursor` is the `nextCursor` of the previous page.
    pub async fn search(
        self,
        query: &str,
        cursor: Option<&str>,
        limit: Option<usize>,
    ) -> Result<ApiResponse<SearchPage>> {
        let limit = limit.map(|limit| limit.to_string());
        let query = [("query", Some(query)), ("cursor", cursor), ("limit", limit.as_deref())];
        self.0.call(Method::GET, &["v1", "search"], &query).await
    }

    /// Creates a session, or returns the existing one, and starts its agent.
    pub async fn create(
        self,
        id: &SessionId,
        create: &CreateSessionRequest,
    ) -> Result<ApiResponse<SessionCreated>> {
        self.0.call_with_body(Method::POST, &["v1", "sessions", id.as_str()], &[], create).await
    }

    /// As [`create`](Self::create), with access to a device. Only a hub knows devices.
    pub async fn create_with_device(
        self,
        id: &SessionId,
        create: &CreateSessionRequest,
        environment: &EnvironmentSpec,
    ) -> Result<ApiResponse<SessionCreated>> {
        let body = CreateWithDevice { create, environment };
        self.0.call_with_body(Method::POST, &["v1", "sessions", id.as_str()], &[], &body).await
    }

    /// Reads one session.
    pub async fn get(self, id: &SessionId) -> Result<ApiResponse<Session>> {
        self.0.call(Method::GET, &["v1", "sessions", id.as_str()], &[]).await
    }

    /// Deletes a session, if it exists, and stops its agent.
    pub async fn delete(self, id: &SessionId) -> Result<ApiResponse<()>> {
        self.0.call(Method::DELETE, &["v1", "sessions", id.as_str()], &[]).await
    }

    /// Sends a message. With a key, it is safe to send it again.
    pub async fn send(
        self,
        id: &SessionId,
        send: &SendMessageRequest,
        key: Option<&IdempotencyKey>,
    ) -> Result<ApiResponse<MessageAccepted>> {
        let mut request = self.0.request(Method::POST, &session_route(id, "messages")).json(send);
        if let Some(key) = key {
            request = request.header("idempotency-key", key.as_str());
        }
        client::send_and_collect(request).await
    }

    /// Reads a page of the transcript. `cursor` is the `nextCursor` of the previous page.
    pub async fn messages(
        self,
        id: &SessionId,
        cursor: Option<&str>,
        limit: Option<u32>,
    ) -> Result<ApiResponse<TranscriptPage>> {
        let limit = limit.map(|limit| limit.to_string());
        let query = [("cursor", cursor), ("limit", limit.as_deref())];
        self.0.call(Method::GET, &session_route(id, "messages"), &query).await
    }

    /// Lists the queued messages.
    pub async fn inputs(self, id: &SessionId) -> Result<ApiResponse<SessionInputList>> {
        self.0.call(Method::GET, &session_route(id, "inputs"), &[]).await
    }

    /// Replaces the content of a queued message.
    pub async fn edit(
        self,
        id: &SessionId,
        input: InputId,
        edit: &EditInputRequest,
    ) -> Result<ApiResponse<()>> {
        let segments = ["v1", "sessions", id.as_str(), "inputs", &input.to_string()];
        self.0.call_with_body(Method::PUT, &segments, &[], edit).await
    }

    /// Withdraws a queued message.
    pub async fn withdraw(self, id: &SessionId, input: InputId) -> Result<ApiResponse<()>> {
        let segments = ["v1", "sessions", id.as_str(), "inputs", &input.to_string()];
        self.0.call(Method::DELETE, &segments, &[]).await
    }

    /// Reads a page of events.
    pub async fn page(self, id: &SessionId, options: EventPageOptions) -> Result<ApiResponse<EventPage>> {
        let offset = options.offset.to_string();
        let limit = options.limit.map(|limit| limit.to_string());
        let raw = options.include_raw.then_some("true");
        let query = [("offset", Some(offset.as_str())), ("limit", limit.as_deref()), ("includeRaw", raw)];
        self.0.call(Method::GET, &session_route(id, "events"), &query).await
    }

    /// Streams the events after `offset`, until the session is deleted.
    pub async fn events(self, id: &SessionId, offset: u64, include_raw: bool) -> Result<SessionEvents> {
        SessionEvents::open(self.0.clone(), id, offset, include_raw).await
    }

    /// Reads the state of a session after all events so far.
    pub async fn snapshot(self, id: &SessionId) -> Result<ApiResponse<SessionSnapshot>> {
        self.0.call(Method::GET, &session_route(id, "snapshot"), &[]).await
    }

    /// Cancels the running turn, if there is one.
    pub async fn cancel(self, id: &SessionId) -> Result<ApiResponse<()>> {
        self.0.call(Method::POST, &session_route(id, "cancel"), &[]).await
    }

    /// Answers a question.
    pub async fn answer(
        self,
        id: &SessionId,
        question: WaitId,
        reply: &AnswerQuestionRequest,
    ) -> Result<ApiResponse<()>> {
        let segments = ["v1", "sessions", id.as_str(), "questions", &question.to_string(), "reply"];
        self.0.call_with_body(Method::POST, &segments, &[], reply).await
    }

    /// Declines to answer a question.
    pub async fn reject(
        self,
        id: &SessionId,
        question: WaitId,
        author: Option<Author>,
    ) -> Result<ApiResponse<()>> {
        let segments = ["v1", "sessions", id.as_str(), "questions", &question.to_string(), "reject"];
        self.0.call_with_body(Method::POST, &segments, &[], &RejectQuestionRequest { author }).await
    }

    /// Answers a permission request.
    pub async fn permit(
        self,
        id: &SessionId,
        permission: WaitId,
        reply: &AnswerPermissionRequest,
    ) -> Result<ApiResponse<()>> {
        let segments = ["v1", "sessions", id.as_str(), "permissions", &permission.to_string(), "reply"];
        self.0.call_with_body(Method::POST, &segments, &[], reply).await
    }
}

/// The body that a hub takes in place of a [`CreateSessionRequest`].
#[derive(Serialize)]
struct CreateWithDevice<'a> {
    #[serde(flatten)]
    create: &'a CreateSessionRequest,
    environment: &'a EnvironmentSpec,
}

/// The route of a resource of a session.
fn session_route<'a>(id: &'a SessionId, resource: &'a str) -> [&'a str; 4] {
    ["v1", "sessions", id.as_str(), resource]
}
