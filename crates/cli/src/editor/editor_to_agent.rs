//! Sends messages from the editor to the agent: in order, and each exactly once.

use std::{cell::RefCell, time::Duration};

use bytes::Bytes;
use client::{AcpMessage, Client, Error};
use protocol::{AgentName, IdempotencyKey, ProblemKind, ServerId};
use uuid::Uuid;

use super::{
    editor_reader::{EditorLine, EditorReader},
    editor_writer::EditorWriter,
    open_requests::{OpenRequests, error_response},
    retry_policy::RetryPolicy,
};
use crate::exit::{CommandError, CommandResult, say};

/// How long one attempt may take, because a dead connection may not report an error. If the agent is merely slow to start, the
/// next attempt waits on: it has the same idempotency key.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30);

/// The slowest network to expect. Large messages get more time accordingly.
const BYTES_PER_SECOND_MIN: usize = 64 << 10;

/// JSON-RPC: parse error.
const PARSE_ERROR: i32 = -32700;

/// JSON-RPC: invalid request.
const INVALID_REQUEST: i32 = -32600;

/// Sends one message at a time: the next one only after the daemon has confirmed this one. Otherwise a retry could overtake.
pub(super) struct MessageSender<'a> {
    client: &'a Client,
    id: ServerId,
    /// Sent with the first message only. With it, the daemon would silently restart an agent that has exited, and the editor
    /// would keep talking to one that knows nothing of the conversation.
    agent: Option<AgentName>,
    retry: RetryPolicy,
    /// Makes the idempotency keys of this process unique.
    key_prefix: Uuid,
    sent: u64,
}

impl<'a> MessageSender<'a> {
    pub(super) fn new(
        client: &'a Client,
        id: ServerId,
        agent: Option<AgentName>,
        retry: RetryPolicy,
    ) -> Self {
        Self { client, id, agent, retry, key_prefix: Uuid::new_v4(), sent: 0 }
    }

    /// Sends all messages from the editor until its output ends.
    pub(super) async fn run(
        &mut self,
        reader: &mut EditorReader,
        writer: &EditorWriter,
        open_requests: &RefCell<OpenRequests>,
    ) -> CommandResult {
        while let Some(line) = reader.next().await {
            let answer = match &line.value {
                EditorLine::Message(message) => self.deliver(message, open_requests).await?,
                EditorLine::TooLong => {
                    Some(error_response("null", INVALID_REQUEST, "the message is too large"))
                }
            };
            if let Some(answer) = answer {
                writer.line(answer).await.map_err(|_| CommandError::Closed)?;
            }
        }
        Ok(())
    }

    /// Sends a message until the daemon confirms it. If the daemon rejects it, returns the error response for the editor.
    async fn deliver(
        &mut self,
        body: &Bytes,
        open_requests: &RefCell<OpenRequests>,
    ) -> Result<Option<String>, CommandError> {
        open_requests.borrow_mut().add(body);
        let message = self.message(body)?;
        let limit = ATTEMPT_TIMEOUT + Duration::from_secs((body.len() / BYTES_PER_SECOND_MIN) as u64);
        let sent = self
            .retry
            .run(|| async {
                let send = self.client.acp().send(&self.id, message.clone());
                match tokio::time::timeout(limit, send).await {
                    Ok(sent) => sent,
                    Err(_) => Err(Error::Transport("the daemon did not answer in time".into())),
                }
            })
            .await;
        let Err(error) = sent else {
            self.agent = None;
            return Ok(None);
        };
        let code = match error.kind() {
            // A batch, or a request whose id is `null`, is JSON and yet no message of ACP.
            Some(ProblemKind::InvalidEnvelope) if is_json(body) => INVALID_REQUEST,
            Some(ProblemKind::InvalidEnvelope) => PARSE_ERROR,
            Some(ProblemKind::IdInFlight | ProblemKind::PayloadTooLarge) => INVALID_REQUEST,
            _ => return Err(to_failure(error)),
        };
        // Only this message is invalid, so the conversation continues.
        say(&format!("tombolo: the daemon rejected a message: {error}"));
        Ok(open_requests.borrow_mut().reject(body, code, &error.to_string()))
    }

    fn message(&mut self, body: &Bytes) -> Result<AcpMessage, CommandError> {
        self.sent += 1;
        let key: IdempotencyKey = format!("{}-{}", self.key_prefix.simple(), self.sent)
            .parse()
            .map_err(|error| CommandError::Local(anyhow::Error::new(error)))?;
        let message = AcpMessage::new(body.clone()).respond_async().key(key);
        Ok(match &self.agent {
            Some(agent) => message.agent(agent.clone()),
            None => message,
        })
    }
}

fn is_json(body: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok()
}

fn to_failure(error: Error) -> CommandError {
    match error {
        // `AgentRequired`: the instance was deleted, and the daemon would need an agent name to create a new one. For this
        // conversation that is the end too.
        Error::Problem(refusal)
            if matches!(
                refusal.kind,
                Some(ProblemKind::AgentExited | ProblemKind::AgentRequired | ProblemKind::InstanceNotFound)
            ) =>
        {
            CommandError::AgentEnded {
                how: refusal.to_string(),
                last_words: refusal.stderr_tail.unwrap_or_default(),
            }
        }
        error => error.into(),
    }
}
