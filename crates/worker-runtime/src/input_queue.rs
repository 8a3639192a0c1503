//! The inputs of a session: queued messages, and settled ones with their idempotency keys.

use std::collections::VecDeque;

use journal::durable::{DurableJournal, RecordUpdate};
use protocol::{
    Author, IdempotencyKey, InputId, SessionId, TurnId,
    event::{InputReceipt, InputState},
    sessions::{MessageAccepted, SendMessageRequest},
};
use sha2::{Digest, Sha256};
use telemetry::SpanLink;

use crate::{
    Error,
    sent_message::SentMessage,
    stored_input::{INPUT, InputContent, StoredInput},
};

/// The number of inputs that may be queued.
const QUEUE_MAX: usize = 64;

/// The number of settled inputs that are kept to recognise a repeated request.
const SETTLED_MAX: usize = 1024;

/// The inputs of a session: queued messages, and settled ones with their idempotency keys.
#[derive(Debug, Default)]
pub(crate) struct InputQueue {
    /// The oldest first.
    inputs: VecDeque<StoredInput>,
    /// Changed records that are not stored yet.
    updates: Vec<RecordUpdate>,
}

impl InputQueue {
    /// Reads the stored inputs.
    pub(crate) async fn restore(session: &SessionId, journal: &DurableJournal) -> Result<Self, Error> {
        let records = journal.records(INPUT, String::new(), (QUEUE_MAX + SETTLED_MAX) as u32).await?;
        // Keys are ids, which sort by the time of their creation.
        let inputs = records.iter().map(|(key, json)| {
            serde_json::from_slice(json)
                .map_err(|source| Error::unreadable(session, format!("input {key}"), source))
        });
        Ok(Self { inputs: inputs.collect::<Result<_, _>>()?, updates: Vec::new() })
    }

    /// The response to an earlier request with this key; `None` if there was none.
    pub(crate) fn find_repeated(
        &self,
        key: &IdempotencyKey,
        request: &SendMessageRequest,
    ) -> Result<Option<MessageAccepted>, Error> {
        let Some(known) = self.inputs.iter().find(|known| known.key.as_ref() == Some(key)) else {
            return Ok(None);
        };
        if known.digest == digest(request) {
            Ok(Some(known.input.accepted()))
        } else {
            Err(Error::KeyReused(key.clone()))
        }
    }

    /// Adds an input to the end of the queue.
    pub(crate) fn push(
        &mut self,
        message: SentMessage,
        turn: TurnId,
        author: Author,
    ) -> Result<InputContent, Error> {
        let queued = self.queued().count();
        if queued >= QUEUE_MAX {
            return Err(Error::QueueFull(queued));
        }
        let SentMessage { request, key, sender } = message;
        let digest = digest(&request);
        let input = InputContent::new(request, turn, author);
        let stored = StoredInput::new(input.clone(), key, digest, sender);
        self.updates.push(stored.update());
        self.inputs.push_back(stored);
        if self.inputs.len() > QUEUE_MAX + SETTLED_MAX
            && let Some(oldest) = self.inputs.pop_front()
        {
            self.updates.push(RecordUpdate::delete(INPUT, oldest.input.id.to_string()));
        }
        Ok(input)
    }

    /// The request that sent an input; `None` if an earlier process accepted it, or spans are not exported.
    pub(crate) fn sender(&self, id: InputId) -> Option<SpanLink> {
        self.inputs.iter().find(|stored| stored.input.id == id)?.sender.clone()
    }

    /// The queued inputs, in order.
    pub(crate) fn queued(&self) -> impl Iterator<Item = &InputContent> {
        self.inputs.iter().map(|stored| &stored.input).filter(|input| is_queued(input.state))
    }

    /// The ids of the queued inputs, in order.
    pub(crate) fn queued_ids(&self) -> Vec<InputId> {
        self.queued().map(|input| input.id).collect()
    }

    /// The inputs that the agent received and has not started to work on.
    pub(crate) fn delivered(&self) -> impl Iterator<Item = &InputContent> {
        let inputs = self.inputs.iter().map(|stored| &stored.input);
        inputs.filter(|input| input.state == InputState::Delivered)
    }

    /// Changes the state of an input. Returns the receipt, or `None` if the input is settled or in that state already.
    pub(crate) fn advance(
        &mut self,
        id: InputId,
        state: InputState,
        reason: Option<&str>,
    ) -> Option<InputReceipt> {
        let stored = self.inputs.iter_mut().find(|stored| stored.input.id == id)?;
        let is_settled =
            matches!(stored.input.state, InputState::Consumed | InputState::Refused | InputState::Withdrawn);
        if is_settled || stored.input.state == state {
            return None;
        }
        stored.input.state = state;
        self.updates.push(stored.update());
        Some(InputReceipt { reason: reason.map(str::to_owned), ..stored.input.receipt() })
    }

    /// Replaces the text of a queued input.
    pub(crate) fn edit(
        &mut self,
        id: InputId,
        message: String,
        author: &Author,
    ) -> Result<InputReceipt, Error> {
        let stored = self.find_queued(id)?;
        stored.input.message = message;
        let update = stored.update();
        let receipt = InputReceipt {
            state: InputState::Edited,
            author: author.clone(),
            message: Some(stored.input.message.clone()),
            ..stored.input.receipt()
        };
        self.updates.push(update);
        Ok(receipt)
    }

    /// Withdraws a queued input.
    pub(crate) fn withdraw(&mut self, id: InputId, author: Option<Author>) -> Result<InputReceipt, Error> {
        self.find_queued(id)?;
        let mut receipt = self.advance(id, InputState::Withdrawn, None).ok_or(Error::InputGone(id))?;
        receipt.author = author.unwrap_or(receipt.author);
        Ok(receipt)
    }

    fn find_queued(&mut self, id: InputId) -> Result<&mut StoredInput, Error> {
        let stored = self.inputs.iter_mut().find(|stored| stored.input.id == id);
        let stored = stored.ok_or(Error::InputNotFound(id))?;
        if is_queued(stored.input.state) { Ok(stored) } else { Err(Error::InputGone(id)) }
    }

    /// Removes and returns the changed records.
    pub(crate) fn take_updates(&mut self) -> Vec<RecordUpdate> {
        std::mem::take(&mut self.updates)
    }
}

fn is_queued(state: InputState) -> bool {
    matches!(state, InputState::Accepted | InputState::Edited)
}

/// A hash of the request, to compare a repeated request with the first one.
fn digest(request: &SendMessageRequest) -> String {
    let json = serde_json::to_vec(request).unwrap_or_default();
    Sha256::digest(json).iter().map(|byte| format!("{byte:02x}")).collect()
}
