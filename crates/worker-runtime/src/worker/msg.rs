//! What a worker is asked.

use protocol::{
    Author, IdempotencyKey, InputId, WaitId,
    sessions::{MessageAccepted, SendMessageRequest, SessionCreated, SessionInput, SessionSnapshot},
    wait::{PermissionAnswer, Wait, WaitAnswer},
};
use telemetry::SpanLink;
use tokio::sync::oneshot;

use crate::Error;

/// What the worker is asked; each is answered once it is written down.
pub(crate) enum Msg {
    /// Have the agent running.
    Wake(Reply<SessionCreated>),
    Send(Box<SentMessage>, Reply<MessageAccepted>),
    Edit(InputId, String, Author, Reply<()>),
    Withdraw(InputId, Option<Author>, Reply<()>),
    Cancel(Reply<()>),
    /// The wait as it was settled.
    Answer(WaitId, Answer, Author, Reply<Wait>),
    Snapshot(Reply<SessionSnapshot>),
    /// Have all messages in notes.
    Fold(Reply<u64>),
    Inputs(Reply<Vec<SessionInput>>),
    Stop(Stop, Reply<()>),
}

/// A message as a request sent it.
pub(crate) struct SentMessage {
    pub(crate) request: SendMessageRequest,
    pub(crate) key: Option<IdempotencyKey>,
    /// The span of that request, if it is exported.
    pub(crate) sender: Option<SpanLink>,
}

pub(crate) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// What a person answers.
pub(crate) enum Answer {
    Permission(PermissionAnswer),
    Answers(Vec<Vec<String>>),
    /// No, to a question.
    Reject,
    /// No, whatever is asked.
    No,
}

impl From<WaitAnswer> for Answer {
    fn from(answer: WaitAnswer) -> Self {
        match answer {
            WaitAnswer::Permission(answer) => Answer::Permission(answer),
            WaitAnswer::Question(answers) => Answer::Answers(answers),
            WaitAnswer::Reject => Answer::No,
        }
    }
}

/// Why the worker is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The daemon ends; the session stays.
    Shutdown,
    /// The session is deleted.
    Delete,
}

impl Msg {
    /// Whether the agent does something new because of it. On a full disk that is refused.
    pub(crate) fn begins_something(&self) -> bool {
        match self {
            Msg::Wake(_) | Msg::Send(..) | Msg::Edit(..) | Msg::Answer(..) => true,
            Msg::Withdraw(..)
            | Msg::Cancel(_)
            | Msg::Snapshot(_)
            | Msg::Fold(_)
            | Msg::Inputs(_)
            | Msg::Stop(..) => false,
        }
    }

    /// Answers that it cannot be done.
    pub(crate) fn refuse(self, error: Error) {
        match self {
            Msg::Wake(reply) => drop(reply.send(Err(error))),
            Msg::Send(_, reply) => drop(reply.send(Err(error))),
            Msg::Edit(_, _, _, reply)
            | Msg::Withdraw(_, _, reply)
            | Msg::Cancel(reply)
            | Msg::Stop(_, reply) => drop(reply.send(Err(error))),
            Msg::Answer(_, _, _, reply) => drop(reply.send(Err(error))),
            Msg::Snapshot(reply) => drop(reply.send(Err(error))),
            Msg::Fold(reply) => drop(reply.send(Err(error))),
            Msg::Inputs(reply) => drop(reply.send(Err(error))),
        }
    }
}
