//! `/v1/acp`: instances, one ACP process each.

use std::time::Duration;

use bytes::Bytes;
use protocol::{
    AgentName, IdempotencyKey, ServerId,
    acp::{AcpInstance, AcpInstanceList, PrepareInstanceRequest},
};
use reqwest::{Method, header::CONTENT_TYPE};
use serde_json::Value;

use crate::{AcpEvents, ApiResponse, Client, Error, Result, client};

/// The instances of a daemon.
#[derive(Debug, Clone, Copy)]
pub struct AcpApi<'a>(pub(crate) &'a Client);

/// One JSON-RPC message to an agent, and how to send it.
#[derive(Debug, Clone)]
pub struct AcpMessage {
    body: Bytes,
    agent: Option<AgentName>,
    timeout: Option<Duration>,
    respond_async: bool,
    key: Option<IdempotencyKey>,
    linger: Option<Duration>,
}

impl AcpMessage {
    /// A message with this body, which is sent byte for byte.
    pub fn new(body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), agent: None, timeout: None, respond_async: false, key: None, linger: None }
    }

    /// The agent to run; required for the first message to an instance.
    #[must_use]
    pub fn agent(mut self, agent: AgentName) -> Self {
        self.agent = Some(agent);
        self
    }

    /// How long the daemon waits for the agent's response.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Does not wait for the agent's response, which then appears on the event stream only.
    #[must_use]
    pub fn respond_async(mut self) -> Self {
        self.respond_async = true;
        self
    }

    /// Makes it safe to send the message again: the daemon passes it to the agent only once.
    #[must_use]
    pub fn key(mut self, key: IdempotencyKey) -> Self {
        self.key = Some(key);
        self
    }

    /// If this message creates the instance: delete it after this long without readers and messages in progress.
    #[must_use]
    pub fn linger(mut self, linger: Duration) -> Self {
        self.linger = Some(linger);
        self
    }
}

/// The result of sending a message.
#[derive(Debug, Clone)]
pub enum AcpReply {
    /// The agent's response.
    Response {
        /// The response.
        response: ApiResponse<Value>,
        /// Its id on the stream.
        event_id: u64,
    },
    /// The message was passed to the agent.
    Accepted,
}

impl AcpApi<'_> {
    /// Lists all instances.
    pub async fn list(self) -> Result<ApiResponse<AcpInstanceList>> {
        self.0.call(Method::GET, &["v1", "acp"], &[]).await
    }

    /// Sends one message to an instance, and returns the agent's response if it is a request.
    pub async fn send(self, id: &ServerId, message: AcpMessage) -> Result<AcpReply> {
        let milliseconds = |time: Duration| time.as_millis().to_string();
        let timeout = message.timeout.map(milliseconds);
        let linger = message.linger.map(milliseconds);
        let agent = message.agent.as_ref().map(AgentName::as_str);
        let mut request = self
            .0
            .request(Method::POST, &["v1", "acp", id.as_str()])
            .query(&[("agent", agent), ("timeoutMs", timeout.as_deref()), ("lingerMs", linger.as_deref())])
            .header(CONTENT_TYPE, "application/json");
        if message.respond_async {
            request = request.header("prefer", "respond-async");
        }
        if let Some(key) = &message.key {
            request = request.header(client::IDEMPOTENCY_KEY, key.as_str());
        }
        let response: ApiResponse<Value> = client::send_and_collect(request.body(message.body)).await?;
        if response.status() == 202 {
            return Ok(AcpReply::Accepted);
        }
        match response.header("acp-event-id").and_then(|id| id.parse().ok()) {
            Some(event_id) => Ok(AcpReply::Response { response, event_id }),
            None => Err(Error::Unexpected {
                status: response.status(),
                reason: "a response without `Acp-AcpEvent-Id`".into(),
                excerpt: String::from_utf8_lossy(response.body()).chars().take(100).collect(),
            }),
        }
    }

    /// Streams the agent's output after the event `after`, or from the oldest retained event.
    pub async fn events(self, id: &ServerId, after: Option<u64>) -> Result<AcpEvents> {
        AcpEvents::open(self.0.clone(), id.clone(), after).await
    }

    /// Sets the launch options of an instance. Its process starts with the first message.
    pub async fn prepare(
        self,
        id: &ServerId,
        options: &PrepareInstanceRequest,
    ) -> Result<ApiResponse<AcpInstance>> {
        self.0.call_with_body(Method::PUT, &["v1", "acp", id.as_str()], &[], options).await
    }

    /// Deletes an instance, if it exists, and stops its processes. The agent has `grace` to exit by itself; the daemon's own
    /// limit is the maximum and the default.
    pub async fn delete(self, id: &ServerId, grace: Option<Duration>) -> Result<ApiResponse<()>> {
        let grace = grace.map(|grace| grace.as_millis().to_string());
        self.0.call(Method::DELETE, &["v1", "acp", id.as_str()], &[("graceMs", grace.as_deref())]).await
    }
}
