//! What can go wrong with a session.

use std::{io, sync::Arc};

use journal::durable;
use protocol::{
    AgentName, IdempotencyKey, InputId, SessionId, TurnId, WaitId,
    sessions::AgentError,
    wait::{PermissionOutcome, QuestionOutcome, WaitOutcome, WaitSettlement},
};

/// What can go wrong with a session.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// There is no such session.
    #[error("session `{0}` does not exist")]
    NotFound(SessionId),
    /// The session is another one.
    #[error(
        "session `{0}` already exists with other parameters; choose another id, or repeat the original request"
    )]
    Conflict(SessionId),
    /// There is no such agent.
    #[error(transparent)]
    UnknownAgent(#[from] agents::UnknownAgent),
    /// The agent would have to work in a place that is none.
    #[error("`directory` must be the absolute path of an existing directory: `{path}` {problem}")]
    Directory {
        /// What the client sent.
        path: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A variable cannot be given to a process.
    #[error(
        "`env` contains an invalid variable `{0}`: names must not be empty or contain `=`, and nothing may contain NUL"
    )]
    Variable(String),
    /// There are too many sessions.
    #[error("the limit of {0} sessions is reached; delete some first")]
    TooMany(usize),
    /// Too many searches run.
    #[error("{0} searches are running already; search again when they are done")]
    TooManySearches(usize),
    /// A turn runs, and the message was not to wait.
    #[error(
        "session `{session}` is busy with turn {turn}; wait for it to end, or send with `whenBusy: queue`"
    )]
    Busy {
        /// The session.
        session: SessionId,
        /// What it does.
        turn: TurnId,
    },
    /// Too many messages wait.
    #[error("{0} messages are queued already; send again after a turn has ended")]
    QueueFull(usize),
    /// The agent cannot do this.
    #[error("the agent `{agent}` does not support this: {message}")]
    Unsupported {
        /// The agent.
        agent: AgentName,
        /// What it cannot do, for programs.
        feature: &'static str,
        /// What it cannot do, for people.
        message: &'static str,
    },
    /// The agent does not offer what a new session chooses.
    #[error("the agent `{agent}` does not support this: {message}")]
    NotOffered {
        /// The agent.
        agent: AgentName,
        /// What it does not offer, and what it does.
        message: String,
    },
    /// The key was used for another message.
    #[error("the idempotency key `{0}` was already used for another message; use a new key")]
    KeyReused(IdempotencyKey),
    /// There is no such input.
    #[error("input {0} does not exist")]
    InputNotFound(InputId),
    /// It is too late to change the input.
    #[error("input {0} can no longer be changed: it was already delivered, rejected or withdrawn")]
    InputGone(InputId),
    /// There is no such wait, or not of this kind.
    #[error("there is no open question or permission request {0}")]
    WaitNotFound(WaitId),
    /// Somebody was faster, or it no longer matters.
    #[error("{wait} was already answered{}: {}", by(settled), how(settled))]
    Settled {
        /// What it was.
        wait: WaitId,
        /// How it was settled.
        settled: Box<WaitSettlement>,
    },
    /// The answer does not fit the question.
    #[error("{0}")]
    InvalidAnswer(String),
    /// The agent cannot be used.
    #[error("the agent could not be started")]
    Agent(Box<AgentError>),
    /// The file of sessions cannot be used.
    #[error("could not read or write the session store")]
    Storage(#[source] Arc<durable::Error>),
    /// The private file with the secrets of a session cannot be used.
    #[error("could not read or write the secrets of session `{session}`")]
    Secrets {
        /// The session.
        session: SessionId,
        /// The cause.
        source: Arc<io::Error>,
    },
    /// The thread that agents are heard on cannot be had.
    #[error("could not start the session thread")]
    Thread(#[source] Arc<io::Error>),
    /// A note in the file cannot be understood.
    #[error("the stored state of session `{0}` is unreadable")]
    Damaged(SessionId),
    /// The daemon is ending, or the session is.
    #[error("session `{0}` is being deleted")]
    Ending(SessionId),
}

fn by(settled: &WaitSettlement) -> String {
    settled.author.as_ref().map(|author| format!(" by {author}")).unwrap_or_default()
}

/// The outcome in the words with which users answer.
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
