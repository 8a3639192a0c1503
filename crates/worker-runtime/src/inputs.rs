//! What people send: written down, in order, each with its receipt.

use std::collections::VecDeque;

use jiff::Timestamp;
use journal::durable::{DurableJournal, RecordUpdate};
use protocol::{
    Author, IdempotencyKey, InputId, TurnId,
    event::{InputReceipt, InputState},
    sessions::{MessageAccepted, SendMessageRequest, SessionInput},
};
use sha2::{Digest, Sha256};
use telemetry::SpanLink;

use crate::{
    Error,
    kept::{INPUT, KeptInput, note},
    worker::SentMessage,
};

/// How many inputs may wait for their turn.
pub(crate) const QUEUE_MAX: usize = 64;

/// How many inputs are remembered after they were settled, so that one that is sent again is known.
const SETTLED_MAX: usize = 1024;

/// The inputs of a session.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// All that are remembered, the oldest first.
    all: VecDeque<KeptInput>,
    changes: Vec<RecordUpdate>,
}

impl Inputs {
    /// As the notes have it.
    pub(crate) async fn open(journal: &DurableJournal) -> Result<Self, Error> {
        let notes = journal.records(INPUT, String::new(), (QUEUE_MAX + SETTLED_MAX) as u32).await?;
        // Ids sort by birth.
        let all = notes.iter().filter_map(|(_, value)| serde_json::from_slice(value).ok()).collect();
        Ok(Self { all, changes: Vec::new() })
    }

    /// What was answered when this was sent before.
    pub(crate) fn repeated(
        &self,
        key: &IdempotencyKey,
        send: &SendMessageRequest,
    ) -> Result<Option<MessageAccepted>, Error> {
        let Some(known) = self.all.iter().find(|known| known.key.as_ref() == Some(key)) else {
            return Ok(None);
        };
        match known.digest == digest(send) {
            true => Ok(Some(sent(&known.input))),
            false => Err(Error::KeyReused(key.clone())),
        }
    }

    /// Writes down something new.
    pub(crate) fn accept(
        &mut self,
        message: SentMessage,
        turn: TurnId,
        author: Author,
    ) -> Result<SessionInput, Error> {
        let waiting = self.queued().count();
        if waiting >= QUEUE_MAX {
            return Err(Error::QueueFull(waiting));
        }
        let SentMessage { request: send, key, sender } = message;
        let digest = digest(&send);
        let input = SessionInput {
            id: InputId::mint(),
            turn_id: turn,
            author,
            message: send.message,
            attachments: send.attachments,
            state: InputState::Accepted,
            accepted_at: Timestamp::now(),
        };
        let kept = KeptInput { input: input.clone(), key, digest, sender };
        self.changes.push(note(INPUT, input.id.to_string(), &kept));
        self.all.push_back(kept);
        if self.all.len() > QUEUE_MAX + SETTLED_MAX
            && let Some(old) = self.all.pop_front()
        {
            self.changes.push(RecordUpdate::delete(INPUT, old.input.id.to_string()));
        }
        Ok(input)
    }

    /// Those that wait, in order.
    pub(crate) fn queued(&self) -> impl Iterator<Item = &SessionInput> {
        self.all.iter().map(|kept| &kept.input).filter(|input| is_queued(input.state))
    }

    /// The input of this name.
    pub(crate) fn get(&self, id: InputId) -> Option<&SessionInput> {
        self.all.iter().map(|kept| &kept.input).find(|input| input.id == id)
    }

    /// The request that sent an input, unless it was sent to an earlier process or spans are not exported.
    pub(crate) fn sender(&self, id: InputId) -> Option<SpanLink> {
        self.all.iter().find(|kept| kept.input.id == id)?.sender.clone()
    }

    /// Those that were delivered and of which the agent has not said that it works on them.
    pub(crate) fn delivered(&self) -> Vec<InputId> {
        let delivered = self.all.iter().filter(|kept| kept.input.state == InputState::Delivered);
        delivered.map(|kept| kept.input.id).collect()
    }

    /// Notes how far an input has come; what to tell of it, unless it had come as far before.
    pub(crate) fn advance(
        &mut self,
        id: InputId,
        state: InputState,
        reason: Option<&str>,
    ) -> Option<InputReceipt> {
        let kept = self.all.iter_mut().find(|kept| kept.input.id == id)?;
        let settled =
            matches!(kept.input.state, InputState::Consumed | InputState::Refused | InputState::Withdrawn);
        if settled || kept.input.state == state {
            return None;
        }
        kept.input.state = state;
        self.changes.push(note(INPUT, id.to_string(), kept));
        let mut receipt = receipt(&kept.input);
        receipt.reason = reason.map(str::to_owned);
        Some(receipt)
    }

    /// Changes what an input says, while it waits.
    pub(crate) fn edit(
        &mut self,
        id: InputId,
        message: String,
        author: &Author,
    ) -> Result<InputReceipt, Error> {
        let kept = self.waiting(id)?;
        kept.input.message = message;
        let edited = note(INPUT, id.to_string(), kept);
        let receipt = InputReceipt {
            state: InputState::Edited,
            author: author.clone(),
            message: Some(kept.input.message.clone()),
            ..receipt(&kept.input)
        };
        self.changes.push(edited);
        Ok(receipt)
    }

    /// Takes an input back, while it waits.
    pub(crate) fn withdraw(&mut self, id: InputId, author: Option<Author>) -> Result<InputReceipt, Error> {
        self.waiting(id)?;
        let mut receipt = self.advance(id, InputState::Withdrawn, None).ok_or(Error::InputGone(id))?;
        receipt.author = author.unwrap_or(receipt.author);
        Ok(receipt)
    }

    fn waiting(&mut self, id: InputId) -> Result<&mut KeptInput, Error> {
        let kept = self.all.iter_mut().find(|kept| kept.input.id == id).ok_or(Error::InputNotFound(id))?;
        match is_queued(kept.input.state) {
            true => Ok(kept),
            false => Err(Error::InputGone(id)),
        }
    }

    /// What is to be written.
    pub(crate) fn changes(&mut self) -> Vec<RecordUpdate> {
        std::mem::take(&mut self.changes)
    }
}

fn is_queued(state: InputState) -> bool {
    matches!(state, InputState::Accepted | InputState::Edited)
}

/// What to tell of an input.
pub(crate) fn receipt(input: &SessionInput) -> InputReceipt {
    InputReceipt {
        input_id: input.id,
        state: input.state,
        author: input.author.clone(),
        message: None,
        reason: None,
        turn_id: Some(input.turn_id),
    }
}

/// What to answer to whoever sent it.
pub(crate) fn sent(input: &SessionInput) -> MessageAccepted {
    MessageAccepted { input_id: input.id, turn_id: input.turn_id, state: input.state }
}

fn digest(send: &SendMessageRequest) -> String {
    let json = serde_json::to_vec(send).unwrap_or_default();
    Sha256::digest(json).iter().map(|byte| format!("{byte:02x}")).collect()
}
