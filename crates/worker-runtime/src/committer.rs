//! Stores the changes of a session, and releases what depends on them.

use std::sync::Arc;

use agent_adapters::Saying;
use journal::durable;

use crate::{
    Error,
    agent_slot::AgentSlot,
    conversation_state::{ConversationState, PendingChanges},
    session_handle::SessionHandle,
    worker_command::CommandReply,
};

/// Stores the changes of a session, and holds back the replies to commands and the messages to the agent until then.
///
/// So a client or an agent never learns of a change that a crash could undo.
pub(crate) struct Committer {
    handle: Arc<SessionHandle>,
    /// The newest stored event.
    newest_seq: u64,
    /// Changes to store, with those of attempts that failed.
    changes: PendingChanges,
    replies: Vec<Box<dyn FnOnce() + Send>>,
    messages: Vec<Saying>,
}

impl Committer {
    pub(crate) fn new(handle: Arc<SessionHandle>) -> Self {
        let newest_seq = handle.journal.bounds().newest.get();
        let changes = PendingChanges::default();
        Self { handle, newest_seq, changes, replies: Vec::new(), messages: Vec::new() }
    }

    /// The sequence number of the newest stored event.
    pub(crate) fn newest_seq(&self) -> u64 {
        self.newest_seq
    }

    /// Replies to a command after the next commit.
    pub(crate) fn reply<T: Send + 'static>(&mut self, reply: CommandReply<T>, result: Result<T, Error>) {
        // The sender may have stopped waiting.
        self.replies.push(Box::new(move || drop(reply.send(result))));
    }

    /// Sends messages to the agent after the next commit.
    pub(crate) fn send(&mut self, messages: Vec<Saying>) {
        self.messages.extend(messages);
    }

    /// Drops the messages to an agent that is gone.
    pub(crate) fn discard_messages(&mut self) {
        self.messages.clear();
    }

    /// Takes the changes of the conversation, and returns whether they include more than events.
    pub(crate) fn gather(&mut self, conversation: &mut ConversationState) -> bool {
        conversation.take_changes(&mut self.changes, self.newest_seq);
        !self.changes.records.is_empty()
    }

    /// Stores the gathered changes in one transaction. After an error they stay gathered, and the next call tries again.
    pub(crate) async fn write(&mut self) -> Result<(), durable::Error> {
        let PendingChanges { frames, records } = &self.changes;
        if frames.is_empty() && records.is_empty() {
            return Ok(());
        }
        self.handle.journal.append_with_records(frames.clone(), records.clone()).await?;
        self.newest_seq += frames.len() as u64;
        self.changes = PendingChanges::default();
        Ok(())
    }

    /// Sends the replies and messages that waited for the commit.
    pub(crate) fn release(&mut self, agent: &mut AgentSlot) {
        self.replies.drain(..).for_each(|reply| reply());
        agent.send(&mut self.messages);
    }
}

#[cfg(test)]
mod tests;
