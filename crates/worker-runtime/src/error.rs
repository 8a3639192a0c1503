//! What can go wrong with a session.

use std::{io, sync::Arc};

use journal::durable;
use protocol::{
    AgentName, IdempotencyKey, InputId, SessionId, TurnId, WaitId, sessions::AgentError, wait::Settled,
};

/// What can go wrong with a session.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// There is no such session.
    #[error("there is no session `{0}`")]
    NotFound(SessionId),
    /// The session is another one.
    #[error("session `{0}` exists and was created with other parameters")]
    Conflict(SessionId),
    /// There is no such agent.
    #[error("there is no agent `{0}`")]
    UnknownAgent(AgentName),
    /// The agent would have to work in a place that is none.
    #[error("`directory` must be an absolute path to a directory, and `{0}` is not")]
    Directory(String),
    /// A variable cannot be given to a process.
    #[error("`env` has a variable that no process can be given: `{0}`")]
    Variable(String),
    /// There are too many sessions.
    #[error("there are {0} sessions already; delete some first")]
    TooMany(usize),
    /// A turn runs, and the message was not to wait.
    #[error("session `{session}` is running turn {turn}")]
    Busy {
        /// The session.
        session: SessionId,
        /// What it does.
        turn: TurnId,
    },
    /// Too many messages wait.
    #[error("{0} messages wait for their turn already")]
    QueueFull(usize),
    /// The agent cannot do this.
    #[error("the agent `{agent}` cannot do this: {message}")]
    Unsupported {
        /// The agent.
        agent: AgentName,
        /// What it cannot do, for programs.
        feature: &'static str,
        /// What it cannot do, for people.
        message: &'static str,
    },
    /// The key was used for another message.
    #[error("the idempotency key `{0}` came with another message before")]
    KeyReused(IdempotencyKey),
    /// There is no such input.
    #[error("there is no input {0}")]
    InputNotFound(InputId),
    /// It is too late to change the input.
    #[error("input {0} was delivered, refused or withdrawn already")]
    InputGone(InputId),
    /// There is no such wait, or not of this kind.
    #[error("there is no such question or permission: {0}")]
    WaitNotFound(WaitId),
    /// Somebody was faster, or it no longer matters.
    #[error("{wait} was settled already{}: {}", by(settled), how(settled))]
    Settled {
        /// What it was.
        wait: WaitId,
        /// How it was settled.
        settled: Box<Settled>,
    },
    /// The answer does not fit the question.
    #[error("{0}")]
    InvalidAnswer(String),
    /// The agent cannot be used.
    #[error("the agent cannot be used")]
    Agent(Box<AgentError>),
    /// The file of sessions cannot be used.
    #[error("the sessions cannot be read or written")]
    Storage(#[source] Arc<durable::Error>),
    /// The thread that agents are heard on cannot be had.
    #[error("the thread of the sessions cannot be started")]
    Thread(#[source] Arc<io::Error>),
    /// A note in the file cannot be understood.
    #[error("what was kept of session `{0}` cannot be understood")]
    Damaged(SessionId),
    /// The daemon is ending, or the session is.
    #[error("session `{0}` is ending")]
    Ending(SessionId),
}

fn by(settled: &Settled) -> String {
    settled.author.as_ref().map(|author| format!(" by {author}")).unwrap_or_default()
}

fn how(settled: &Settled) -> String {
    serde_json::to_string(&settled.outcome).unwrap_or_default()
}

impl From<durable::Error> for Error {
    fn from(error: durable::Error) -> Self {
        Error::Storage(Arc::new(error))
    }
}

/// An error and what is behind it, in a line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
