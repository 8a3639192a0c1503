//! What a worker is asked.

use protocol::{
    Author, IdempotencyKey, InputId, WaitId,
    sessions::{Created, Input, Send, Sent, Snapshot},
    wait::PermissionAnswer,
};
use tokio::sync::oneshot;

use crate::Error;

/// What the worker is asked; each is answered once it is written down.
pub(crate) enum Msg {
    /// Have the agent running.
    Wake(Reply<Created>),
    Send(Send, Option<IdempotencyKey>, Reply<Sent>),
    Edit(InputId, String, Author, Reply<()>),
    Withdraw(InputId, Reply<()>),
    Cancel(Reply<()>),
    Answer(WaitId, Answer, Author, Reply<()>),
    Snapshot(Reply<Snapshot>),
    /// Have all messages in notes.
    Fold(Reply<u64>),
    Inputs(Reply<Vec<Input>>),
    Stop(Stop, Reply<()>),
}

pub(crate) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// What a person answers.
pub(crate) enum Answer {
    Permission(PermissionAnswer),
    Answers(Vec<Vec<String>>),
    Reject,
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
    /// Answers that it cannot be done.
    pub(crate) fn refuse(self, error: Error) {
        match self {
            Msg::Wake(reply) => drop(reply.send(Err(error))),
            Msg::Send(_, _, reply) => drop(reply.send(Err(error))),
            Msg::Edit(_, _, _, reply)
            | Msg::Withdraw(_, reply)
            | Msg::Cancel(reply)
            | Msg::Answer(_, _, _, reply)
            | Msg::Stop(_, reply) => drop(reply.send(Err(error))),
            Msg::Snapshot(reply) => drop(reply.send(Err(error))),
            Msg::Fold(reply) => drop(reply.send(Err(error))),
            Msg::Inputs(reply) => drop(reply.send(Err(error))),
        }
    }
}
