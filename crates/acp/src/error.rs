//! Errors of instances.

use std::{sync::Arc, time::Duration};

use protocol::{AgentName, IdempotencyKey, ServerId, acp::AcpProcessExit};

use crate::InvalidEnvelope;

/// An operation on an instance failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// There is no such instance.
    #[error("instance `{0}` does not exist; send it a message with `?agent=` to create it")]
    NotFound(ServerId),
    /// The message would create an instance, but names no agent.
    #[error("instance `{0}` has no running agent: name the agent to start with `?agent=`")]
    AgentRequired(ServerId),
    /// There is no such agent.
    #[error(transparent)]
    UnknownAgent(#[from] agent_catalog::UnknownAgent),
    /// The instance runs another agent.
    #[error(
        "instance `{instance}` runs agent `{actual}`, not `{requested}`; delete it first, or use another instance id"
    )]
    AgentMismatch {
        /// The instance.
        instance: ServerId,
        /// The agent of the instance.
        actual: AgentName,
        /// The agent that the client named.
        requested: AgentName,
    },
    /// Launch options cannot be changed while the process runs.
    #[error("instance `{0}` is running: delete it before you change its launch options")]
    Running(ServerId),
    /// The launch options cannot be used.
    #[error("invalid launch options: {0}")]
    InvalidLaunch(String),
    /// The body is not one JSON-RPC message.
    #[error(transparent)]
    Envelope(#[from] InvalidEnvelope),
    /// A request with this id is unanswered.
    #[error(
        "request {id} is still in progress on instance `{instance}`: use another id, or wait for its response"
    )]
    IdInFlight {
        /// The instance.
        instance: ServerId,
        /// The id as written.
        id: String,
    },
    /// The idempotency key belongs to another message.
    #[error(
        "the idempotency key `{key}` was already used for a different message to instance `{instance}`: use a new key"
    )]
    KeyReused {
        /// The instance.
        instance: ServerId,
        /// The key.
        key: IdempotencyKey,
    },
    /// The agent's program was not found, or does not speak ACP.
    #[error(transparent)]
    Launch(Arc<agent_catalog::Error>),
    /// The agent could not be installed.
    #[error(transparent)]
    Install(Arc<agent_install::Error>),
    /// The agent is still being installed.
    #[error("agent `{agent}` was not installed within {} ms; the installation continues, so send the message again later", waited.as_millis())]
    Installing {
        /// The agent.
        agent: AgentName,
        /// The time limit.
        waited: Duration,
    },
    /// The process could not be started.
    #[error("could not start agent `{agent}`: {source}")]
    Start {
        /// The agent.
        agent: AgentName,
        /// The cause.
        source: Arc<process::Error>,
    },
    /// The process exited before it responded.
    #[error(
        "agent `{agent}` exited {} before it responded; send a message with `?agent=` to start it again",
        describe_exit(exit)
    )]
    Exited {
        /// The agent.
        agent: AgentName,
        /// The exit status and the end of its standard error.
        exit: Arc<AcpProcessExit>,
    },
    /// The process closed its standard input. It has not exited yet, or its exit is not known yet.
    #[error(
        "agent `{agent}` closed its input and accepts no more messages; delete the instance, or wait until the agent has exited"
    )]
    InputClosed {
        /// The agent.
        agent: AgentName,
    },
    /// The instance is being deleted.
    #[error("instance `{0}` is being deleted; send the message again once that is done")]
    Deleted(ServerId),
    /// The agent does not read its input, or too many requests wait for it.
    #[error("agent `{agent}` cannot accept the message now: {reason}; try again later")]
    Busy {
        /// The agent.
        agent: AgentName,
        /// The limit that is reached.
        reason: &'static str,
    },
    /// The stream cannot be read.
    #[error("could not open the event stream")]
    Stream(#[from] journal::Error),
    /// There are too many instances.
    #[error("there are already {0} instances, which is the maximum: delete one first")]
    TooMany(usize),
    /// The agent did not respond in time.
    #[error("agent `{agent}` did not respond within {} ms; its response will be on the event stream", waited.as_millis())]
    Timeout {
        /// The agent.
        agent: AgentName,
        /// The time limit.
        waited: Duration,
    },
}

fn describe_exit(exit: &AcpProcessExit) -> String {
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("with code {code}"),
        (None, Some(signal)) => format!("by signal {signal}"),
        (None, None) => "without a status".into(),
    }
}
