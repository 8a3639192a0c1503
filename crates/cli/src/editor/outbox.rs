//! What the editor says, on its way to the agent: in order, each message once.

use std::{cell::RefCell, time::Duration};

use bytes::Bytes;
use client::{Client, Error, Message};
use protocol::{AgentName, IdempotencyKey, ProblemKind, ServerId};
use uuid::Uuid;

use super::{
    lines::{Line, Lines},
    patience::Patience,
    pending::{Pending, refusal},
    writer::Writer,
};
use crate::exit::{Failure, Outcome, say};

/// How long one try may take before the next one: a connection may be dead without anybody saying so. An agent that
/// starts slowly is waited for by the next try.
const TRY_MAX: Duration = Duration::from_secs(30);

/// How slow a network may be: a large message has so much longer.
const BYTES_PER_SECOND_MIN: usize = 64 << 10;

/// JSON-RPC: parse error.
const PARSE_ERROR: i32 = -32700;

/// JSON-RPC: invalid request.
const INVALID_REQUEST: i32 = -32600;

/// Sends one message at a time. The next one waits until the daemon has said that it has this one, so that no retry can
/// change the order.
pub(super) struct Outbox<'a> {
    client: &'a Client,
    id: ServerId,
    /// Named with the first message only: if the agent ends, nothing starts it anew behind the editor's back.
    agent: Option<AgentName>,
    patience: Patience,
    /// Makes our keys differ from those of everybody else.
    name: Uuid,
    sent: u64,
}

impl<'a> Outbox<'a> {
    pub(super) fn new(
        client: &'a Client,
        id: ServerId,
        agent: Option<AgentName>,
        patience: Patience,
    ) -> Self {
        Self { client, id, agent, patience, name: Uuid::new_v4(), sent: 0 }
    }

    /// Sends everything that the editor says, until it says no more.
    pub(super) async fn run(
        &mut self,
        lines: &mut Lines,
        writer: &Writer,
        pending: &RefCell<Pending>,
    ) -> Outcome {
        while let Some(line) = lines.next().await {
            let answer = match &line.value {
                Line::Message(message) => self.deliver(message, pending).await?,
                Line::TooLong => Some(refusal("null", INVALID_REQUEST, "the message is too large")),
            };
            if let Some(answer) = answer {
                writer.line(answer).await.map_err(|_| Failure::Closed)?;
            }
        }
        Ok(())
    }

    /// Sends a message until the daemon has it; our own answer to the editor, if the daemon does not want it.
    async fn deliver(&mut self, body: &Bytes, pending: &RefCell<Pending>) -> Result<Option<String>, Failure> {
        pending.borrow_mut().asked(body);
        let message = self.message(body)?;
        let limit = TRY_MAX + Duration::from_secs((body.len() / BYTES_PER_SECOND_MIN) as u64);
        let sent = self
            .patience
            .persist(|| async {
                let send = self.client.acp().send(&self.id, message.clone());
                match tokio::time::timeout(limit, send).await {
                    Ok(sent) => sent,
                    Err(_) => Err(Error::Transport("the daemon did not answer".into())),
                }
            })
            .await;
        let Err(error) = sent else {
            self.agent = None;
            return Ok(None);
        };
        let code = match error.kind() {
            Some(ProblemKind::InvalidEnvelope) => PARSE_ERROR,
            Some(ProblemKind::IdInFlight | ProblemKind::PayloadTooLarge) => INVALID_REQUEST,
            _ => return Err(failure(error)),
        };
        // Only this message is wrong.
        say(&format!("tombolo: a message was refused: {error}"));
        Ok(pending.borrow_mut().refused(body, code, &error.to_string()))
    }

    fn message(&mut self, body: &Bytes) -> Result<Message, Failure> {
        self.sent += 1;
        let key: IdempotencyKey = format!("{}-{}", self.name.simple(), self.sent)
            .parse()
            .map_err(|error| Failure::Local(anyhow::Error::new(error)))?;
        let message = Message::new(body.clone()).respond_async().key(key);
        Ok(match &self.agent {
            Some(agent) => message.agent(agent.clone()),
            None => message,
        })
    }
}

fn failure(error: Error) -> Failure {
    match error {
        // One that was deleted needs to be told its agent; and so it is the end of this one.
        Error::Problem(refusal)
            if matches!(
                refusal.kind,
                Some(ProblemKind::AgentExited | ProblemKind::AgentRequired | ProblemKind::InstanceNotFound)
            ) =>
        {
            Failure::AgentEnded {
                how: refusal.to_string(),
                last_words: refusal.stderr_tail.unwrap_or_default(),
            }
        }
        error => error.into(),
    }
}
