//! What can go wrong with an instance.

use std::{sync::Arc, time::Duration};

use protocol::{AgentName, IdempotencyKey, ServerId, acp::AcpProcessExit};

use crate::InvalidEnvelope;

/// What can go wrong with an instance.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// There is no such instance.
    #[error("there is no instance `{0}`")]
    NotFound(ServerId),
    /// A new instance must be told its agent.
    #[error("instance `{0}` is not there yet (or has ended): say which agent it is with `?agent=`")]
    AgentRequired(ServerId),
    /// There is no such agent.
    #[error("there is no agent `{0}`")]
    UnknownAgent(AgentName),
    /// The instance runs another agent.
    #[error("instance `{instance}` runs `{has}`, not `{asked}`")]
    AgentMismatch {
        /// The instance.
        instance: ServerId,
        /// What it runs.
        has: AgentName,
        /// What was asked for.
        asked: AgentName,
    },
    /// The instance cannot be prepared, for it runs.
    #[error("instance `{0}` is running: delete it before it is prepared anew")]
    Running(ServerId),
    /// The launch options cannot be used.
    #[error("the launch options cannot be used: {0}")]
    InvalidLaunch(String),
    /// The body is not one message.
    #[error(transparent)]
    Envelope(#[from] InvalidEnvelope),
    /// A request with this id waits already.
    #[error("a request with id {id} is still running on instance `{instance}`")]
    IdInFlight {
        /// The instance.
        instance: ServerId,
        /// The id as written.
        id: String,
    },
    /// The idempotency key came with another message before.
    #[error("the key `{key}` came with another message to instance `{instance}` before")]
    KeyReused {
        /// The instance.
        instance: ServerId,
        /// The key.
        key: IdempotencyKey,
    },
    /// The agent's program cannot be found, or speaks something else.
    #[error(transparent)]
    Launch(Arc<agents::Error>),
    /// The agent could not be installed.
    #[error(transparent)]
    Install(Arc<agents::install::Error>),
    /// The agent is still being installed.
    #[error("agent `{agent}` was not installed within {} ms; that goes on, so ask again", waited.as_millis())]
    Installing {
        /// The agent.
        agent: AgentName,
        /// How long it had.
        waited: Duration,
    },
    /// The process could not be started.
    #[error("could not start agent `{agent}`: {source}")]
    Start {
        /// The agent.
        agent: AgentName,
        /// Why.
        source: Arc<process::Error>,
    },
    /// The process ended before it answered.
    #[error("agent `{agent}` ended {how} before it answered", how = how(exit))]
    Exited {
        /// The agent.
        agent: AgentName,
        /// How it ended.
        exit: Arc<AcpProcessExit>,
    },
    /// The instance is being deleted.
    #[error("instance `{0}` is being deleted")]
    Deleted(ServerId),
    /// The agent does not read its input, or too much waits for it.
    #[error("agent `{agent}` does not take more at the moment: {what}")]
    Busy {
        /// The agent.
        agent: AgentName,
        /// Which limit is reached.
        what: &'static str,
    },
    /// The stream cannot be read.
    #[error("could not open the stream")]
    Stream(#[from] journal::Error),
    /// There are too many instances.
    #[error("there are {0} instances already: delete one first")]
    TooMany(usize),
    /// The agent did not answer in time.
    #[error("agent `{agent}` did not answer within {} ms; its answer will be on the stream", waited.as_millis())]
    Timeout {
        /// The agent.
        agent: AgentName,
        /// How long it had.
        waited: Duration,
    },
}

fn how(exit: &AcpProcessExit) -> String {
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("with code {code}"),
        (None, Some(signal)) => format!("by signal {signal}"),
        (None, None) => "without a status".into(),
    }
}
