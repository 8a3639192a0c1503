//! Errors of session operations.

use std::{io, sync::Arc};

use journal::durable;
use protocol::{
    AgentName, IdempotencyKey, InputId, SessionId, TurnId, WaitId,
    sessions::AgentError,
    wait::{PermissionOutcome, QuestionOutcome, WaitOutcome, WaitSettlement},
};

/// An error of a session operation.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The session does not exist.
    #[error("session `{0}` does not exist")]
    NotFound(SessionId),
    /// The session was created with other parameters.
    #[error(
        "session `{0}` already exists with other parameters; choose another id, or repeat the original request"
    )]
    Conflict(SessionId),
    /// The agent does not exist.
    #[error(transparent)]
    UnknownAgent(#[from] agent_catalog::UnknownAgent),
    /// The working directory cannot be used.
    #[error("`directory` must be the absolute path of an existing directory: `{path}` {problem}")]
    Directory {
        /// The path, as the client sent it.
        path: String,
        /// The problem, as the end of a sentence.
        problem: &'static str,
    },
    /// An environment variable is invalid.
    #[error(
        "`env` contains an invalid variable `{0}`: names must not be empty or contain `=`, and nothing may contain NUL"
    )]
    Variable(String),
    /// The limit of sessions is reached.
    #[error("the limit of {0} sessions is reached; delete some first")]
    TooMany(usize),
    /// A turn is running, and the client asked for a rejection in that case.
    #[error(
        "session `{session}` is busy with turn {turn}; wait for it to end, or send with `whenBusy: queue`"
    )]
    Busy {
        /// The session.
        session: SessionId,
        /// The running turn.
        turn: TurnId,
    },
    /// The queue of inputs is full.
    #[error("{0} messages are queued already; send again after a turn has ended")]
    QueueFull(usize),
    /// The agent does not support the operation.
    #[error("the agent `{agent}` does not support this: {message}")]
    Unsupported {
        /// The agent.
        agent: AgentName,
        /// The missing feature, for programs.
        feature: &'static str,
        /// The missing feature, for people.
        message: &'static str,
    },
    /// The agent does not offer a choice of the request, such as a model.
    #[error("the agent `{agent}` does not support this: {message}")]
    NotOffered {
        /// The agent.
        agent: AgentName,
        /// The missing choice, and the available ones.
        message: String,
    },
    /// The idempotency key was used for another message.
    #[error("the idempotency key `{0}` was already used for another message; use a new key")]
    KeyReused(IdempotencyKey),
    /// The input does not exist.
    #[error("input {0} does not exist")]
    InputNotFound(InputId),
    /// The input is no longer queued.
    #[error("input {0} can no longer be changed: it was already delivered, rejected or withdrawn")]
    InputGone(InputId),
    /// The wait does not exist, or is of another kind.
    #[error("there is no open question or permission request {0}")]
    WaitNotFound(WaitId),
    /// The wait is settled already.
    #[error("{wait} was already answered{}: {}", by(settled), how(settled))]
    Settled {
        /// The wait.
        wait: WaitId,
        /// Its settlement.
        settled: Box<WaitSettlement>,
    },
    /// The answer does not fit the question, for people.
    #[error("{0}")]
    InvalidAnswer(String),
    /// The agent could not be started.
    #[error("the agent could not be started")]
    Agent(Box<AgentError>),
    /// The database of sessions cannot be used.
    #[error("could not read or write the session store")]
    Storage(#[source] Arc<durable::Error>),
    /// The private file with the secrets of a session cannot be read or written.
    #[error("could not read or write the secrets of session `{session}`")]
    Secrets {
        /// The session.
        session: SessionId,
        /// The cause.
        source: Arc<io::Error>,
    },
    /// The thread of the workers could not be started.
    #[error("could not start the session thread")]
    Thread(#[source] Arc<io::Error>),
    /// A stored record of a session cannot be read. The session stays as it is on the disk.
    #[error(
        "the {record} of session `{session}` cannot be read; start the version of Tombolo that wrote it, or delete the session"
    )]
    Unreadable {
        /// The session.
        session: SessionId,
        /// The record, for people.
        record: String,
        /// The cause.
        source: Arc<serde_json::Error>,
    },
    /// The stored events of a session contradict its records.
    #[error("the stored state of session `{0}` is unreadable")]
    Damaged(SessionId),
    /// The session is being deleted, or the daemon is shutting down.
    #[error("session `{0}` is being deleted")]
    Ending(SessionId),
}

fn by(settled: &WaitSettlement) -> String {
    settled.author.as_ref().map(|author| format!(" by {author}")).unwrap_or_default()
}

/// The outcome, in the words of the CLI's answers.
fn how(settled: &WaitSettlement) -> String {
    match &settled.outcome {
        WaitOutcome::Permission(PermissionOutcome::Once) => "allow once".into(),
        WaitOutcome::Permission(PermissionOutcome::Always) => "allow always".into(),
        WaitOutcome::Permission(PermissionOutcome::Reject)
        | WaitOutcome::Question(QuestionOutcome::Rejected) => "deny".into(),
        WaitOutcome::Permission(PermissionOutcome::Expired)
        | WaitOutcome::Question(QuestionOutcome::Expired) => "expired".into(),
        WaitOutcome::Permission(PermissionOutcome::Withdrawn)
        | WaitOutcome::Question(QuestionOutcome::Withdrawn) => "withdrawn".into(),
        WaitOutcome::Question(QuestionOutcome::Answered(answers)) => answers.concat().join(", "),
    }
}

impl Error {
    pub(crate) fn unreadable(
        session: &SessionId,
        record: impl Into<String>,
        source: serde_json::Error,
    ) -> Self {
        Error::Unreadable { session: session.clone(), record: record.into(), source: Arc::new(source) }
    }
}

impl From<durable::Error> for Error {
    fn from(error: durable::Error) -> Self {
        Error::Storage(Arc::new(error))
    }
}

/// An error and its causes, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
