//! `/v1/acp`: instances, one ACP process each.

use std::time::Duration;

use bytes::Bytes;
use protocol::{
    AgentName, IdempotencyKey, ServerId,
    acp::{AcpInstance, AcpInstanceList, PrepareInstanceRequest},
};
use reqwest::{Method, header::CONTENT_TYPE};
use serde_json::Value;

use crate::{Answer, Client, Error, Events, Result, client};

/// The instances of a daemon.
#[derive(Debug, Clone, Copy)]
pub struct Acp<'a>(pub(crate) &'a Client);

/// One JSON-RPC message to an agent, and how to send it.
#[derive(Debug, Clone)]
pub struct Message {
    body: Bytes,
    agent: Option<AgentName>,
    timeout: Option<Duration>,
    respond_async: bool,
    key: Option<IdempotencyKey>,
    linger: Option<Duration>,
}

impl Message {
    /// The message as it shall arrive, byte for byte.
    pub fn new(body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), agent: None, timeout: None, respond_async: false, key: None, linger: None }
    }

    /// The agent to run; the first message to an instance needs it.
    #[must_use]
    pub fn agent(mut self, agent: AgentName) -> Self {
        self.agent = Some(agent);
        self
    }

    /// How long the daemon shall wait for the agent's answer.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Does not wait for the agent's answer; it is on the stream only.
    #[must_use]
    pub fn respond_async(mut self) -> Self {
        self.respond_async = true;
        self
    }

    /// Makes it safe to send the message again: the daemon hands it to the agent once, however often it comes.
    #[must_use]
    pub fn key(mut self, key: IdempotencyKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Deletes an instance that is made by this message once nobody was there for it for so long.
    #[must_use]
    pub fn linger(mut self, linger: Duration) -> Self {
        self.linger = Some(linger);
        self
    }
}

/// What became of a message.
#[derive(Debug, Clone)]
pub enum Reply {
    /// The agent's response, and its id on the stream.
    Response {
        /// The response.
        answer: Answer<Value>,
        /// Its id on the stream.
        event_id: u64,
    },
    /// It was handed to the agent.
    Accepted,
}

impl Acp<'_> {
    /// Every instance.
    pub async fn list(self) -> Result<Answer<AcpInstanceList>> {
        self.0.ask(Method::GET, &["v1", "acp"], &[]).await
    }

    /// Sends one message to an instance; a request comes back with the agent's response.
    pub async fn send(self, id: &ServerId, message: Message) -> Result<Reply> {
        let ms = |time: Duration| time.as_millis().to_string();
        let (timeout, linger) = (message.timeout.map(ms), message.linger.map(ms));
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
        let answer: Answer<Value> = client::answer(request.body(message.body)).await?;
        if answer.status() == 202 {
            return Ok(Reply::Accepted);
        }
        match answer.header("acp-event-id").and_then(|id| id.parse().ok()) {
            Some(event_id) => Ok(Reply::Response { answer, event_id }),
            None => Err(Error::Unexpected {
                status: answer.status(),
                reason: "a response without `Acp-Event-Id`".into(),
                excerpt: String::from_utf8_lossy(answer.body()).chars().take(100).collect(),
            }),
        }
    }

    /// What the agent says: after the event `after`, or from the oldest that is kept.
    pub async fn events(self, id: &ServerId, after: Option<u64>) -> Result<Events> {
        Events::open(self.0.clone(), id.clone(), after).await
    }

    /// Tells how the process of an instance is to be started; it starts with the first message.
    pub async fn prepare(
        self,
        id: &ServerId,
        options: &PrepareInstanceRequest,
    ) -> Result<Answer<AcpInstance>> {
        self.0.tell(Method::PUT, &["v1", "acp", id.as_str()], &[], options).await
    }

    /// Ends an instance and every process of it; it need not be there. Its agent has `grace` to end by itself, or what the
    /// daemon gives every agent.
    pub async fn delete(self, id: &ServerId, grace: Option<Duration>) -> Result<Answer<()>> {
        let grace = grace.map(|grace| grace.as_millis().to_string());
        self.0.ask(Method::DELETE, &["v1", "acp", id.as_str()], &[("graceMs", grace.as_deref())]).await
    }
}
