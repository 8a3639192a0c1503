//! The commands that a worker accepts from the handlers of requests.

use protocol::{
    Author, InputId, WaitId,
    sessions::{MessageAccepted, SessionCreated, SessionInput, SessionSnapshot},
    wait::Wait,
};
use tokio::sync::oneshot;

use crate::{Error, sent_message::SentMessage, wait_reply::WaitReply};

/// A command to a worker. The reply is sent once everything that the command changed is stored.
pub(crate) enum WorkerCommand {
    /// Start the agent unless it is running, and wait until it is ready.
    StartAgent(CommandReply<SessionCreated>),
    Send(Box<SentMessage>, CommandReply<MessageAccepted>),
    Edit(InputId, String, Author, CommandReply<()>),
    Withdraw(InputId, Option<Author>, CommandReply<()>),
    Cancel(CommandReply<()>),
    /// Settle a wait; the reply is the settled wait.
    Settle(WaitId, WaitReply, Author, CommandReply<Wait>),
    Snapshot(CommandReply<SessionSnapshot>),
    /// Store the whole transcript; the reply is the sequence number of the newest event in it.
    StoreTranscript(CommandReply<u64>),
    ListInputs(CommandReply<Vec<SessionInput>>),
    Stop(StopCause, CommandReply<()>),
}

/// The way back to the sender of a command.
pub(crate) type CommandReply<T> = oneshot::Sender<Result<T, Error>>;

/// Why a worker stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopCause {
    /// The daemon shuts down; the session stays.
    Shutdown,
    /// The session is deleted.
    Delete,
}

impl WorkerCommand {
    /// Whether the command lets the agent do something new. A worker rejects such commands while the disk is full.
    pub(crate) fn needs_space(&self) -> bool {
        match self {
            Self::StartAgent(_) | Self::Send(..) | Self::Edit(..) | Self::Settle(..) => true,
            Self::Withdraw(..)
            | Self::Cancel(_)
            | Self::Snapshot(_)
            | Self::StoreTranscript(_)
            | Self::ListInputs(_)
            | Self::Stop(..) => false,
        }
    }

    /// Replies with an error.
    pub(crate) fn reject(self, error: Error) {
        // The sender may have stopped waiting.
        match self {
            Self::StartAgent(reply) => drop(reply.send(Err(error))),
            Self::Send(_, reply) => drop(reply.send(Err(error))),
            Self::Edit(_, _, _, reply)
            | Self::Withdraw(_, _, reply)
            | Self::Cancel(reply)
            | Self::Stop(_, reply) => drop(reply.send(Err(error))),
            Self::Settle(_, _, _, reply) => drop(reply.send(Err(error))),
            Self::Snapshot(reply) => drop(reply.send(Err(error))),
            Self::StoreTranscript(reply) => drop(reply.send(Err(error))),
            Self::ListInputs(reply) => drop(reply.send(Err(error))),
        }
    }
}
