//! The operations on one session, and on the waits of all.

use std::sync::Arc;

use bytes::BytesMut;
use journal::{Seq, StartPosition, durable};
use protocol::{
    Author, IdempotencyKey, InputId, Message, SessionId, WaitId,
    sessions::{
        AnswerPermissionRequest, AnswerQuestionRequest, EditInputRequest, MessageAccepted,
        SendMessageRequest, SessionInput, SessionSnapshot,
    },
    wait::{AnswerWaitRequest, Wait},
};
use telemetry::SpanLink;

use super::Sessions;
use crate::{
    Error, WaitSubscription,
    default_author::default_author,
    event_page::{EventPageError, event_page},
    open_waits::OpenWaits,
    sent_message::SentMessage,
    session_transcript::message_page,
    wait_reply::WaitReply,
    worker_command::WorkerCommand,
};

/// The number of events on a page.
pub const PAGE_EVENTS_MAX: usize = 1000;
/// The number of messages on a page.
pub const PAGE_MESSAGES_MAX: u32 = 200;

/// A reader of the events of a session.
pub type EventReader = durable::DurableReader;

impl Sessions {
    /// Stores a message for the agent.
    pub async fn send(
        &self,
        id: &SessionId,
        request: SendMessageRequest,
        key: Option<IdempotencyKey>,
    ) -> Result<MessageAccepted, Error> {
        let message = SentMessage { request, key, sender: SpanLink::to_current() };
        self.command(id, |reply| WorkerCommand::Send(Box::new(message), reply)).await
    }

    /// The queued inputs.
    pub async fn inputs(&self, id: &SessionId) -> Result<Vec<SessionInput>, Error> {
        self.command(id, WorkerCommand::ListInputs).await
    }

    /// Replaces the text of a queued input.
    pub async fn edit(&self, id: &SessionId, input: InputId, edit: EditInputRequest) -> Result<(), Error> {
        let author = or_default(edit.author)?;
        self.command(id, |reply| WorkerCommand::Edit(input, edit.message, author, reply)).await
    }

    /// Withdraws a queued input.
    pub async fn withdraw(
        &self,
        id: &SessionId,
        input: InputId,
        author: Option<Author>,
    ) -> Result<(), Error> {
        self.command(id, |reply| WorkerCommand::Withdraw(input, author, reply)).await
    }

    /// Interrupts the running turn, if there is one.
    pub async fn cancel(&self, id: &SessionId) -> Result<(), Error> {
        self.command(id, WorkerCommand::Cancel).await
    }

    /// Answers a question.
    pub async fn answer(
        &self,
        id: &SessionId,
        wait: WaitId,
        request: AnswerQuestionRequest,
    ) -> Result<(), Error> {
        let answer = WaitReply::Answers(request.answers);
        self.settle_in(id, wait, answer, request.author).await.map(drop)
    }

    /// Rejects a question.
    pub async fn reject(&self, id: &SessionId, wait: WaitId, author: Option<Author>) -> Result<(), Error> {
        self.settle_in(id, wait, WaitReply::RejectQuestion, author).await.map(drop)
    }

    /// Answers a permission request.
    pub async fn permit(
        &self,
        id: &SessionId,
        wait: WaitId,
        request: AnswerPermissionRequest,
    ) -> Result<(), Error> {
        let answer = WaitReply::Permission(request.reply);
        self.settle_in(id, wait, answer, request.author).await.map(drop)
    }

    /// All open waits, the oldest first.
    pub async fn waits(&self) -> Result<Vec<Wait>, Error> {
        Ok(self.open_waits().await?.list())
    }

    /// Subscribes to the waits of all sessions.
    pub async fn subscribe_to_waits(&self) -> Result<WaitSubscription, Error> {
        Ok(self.open_waits().await?.subscribe())
    }

    /// Settles a wait of any session, and returns the settled wait.
    pub async fn settle(&self, wait: WaitId, request: AnswerWaitRequest) -> Result<Wait, Error> {
        let session = self.open_waits().await?.session_of(wait).ok_or(Error::WaitNotFound(wait))?;
        self.settle_in(&session, wait, request.answer.into(), request.author).await
    }

    async fn settle_in(
        &self,
        id: &SessionId,
        wait: WaitId,
        answer: WaitReply,
        author: Option<Author>,
    ) -> Result<Wait, Error> {
        let author = or_default(author)?;
        self.command(id, |reply| WorkerCommand::Settle(wait, answer, author, reply)).await
    }

    /// The open waits of all sessions, once they include all events that readers may have seen.
    async fn open_waits(&self) -> Result<&Arc<OpenWaits>, Error> {
        for entry in self.store().await?.entries() {
            self.catch_up(&entry).await;
        }
        Ok(&self.inner.open_waits)
    }

    /// The state of a session after all events so far.
    pub async fn snapshot(&self, id: &SessionId) -> Result<SessionSnapshot, Error> {
        self.command(id, WorkerCommand::Snapshot).await
    }

    /// A page of the transcript after the cursor `after`, the cursor of the next page, and the newest event that is included.
    pub async fn messages(
        &self,
        id: &SessionId,
        after: String,
        limit: Option<u32>,
    ) -> Result<(Vec<Message>, Option<String>, u64), Error> {
        let newest_seq = self.command(id, WorkerCommand::StoreTranscript).await?;
        let journal = self.journal(id).await?;
        let limit = limit.unwrap_or(PAGE_MESSAGES_MAX).clamp(1, PAGE_MESSAGES_MAX);
        let (messages, next) = message_page(&journal, after, limit).await?;
        Ok((messages, next, newest_seq))
    }

    /// The events after `offset`, as a JSON array, and whether more are available.
    pub async fn page(
        &self,
        id: &SessionId,
        offset: u64,
        limit: Option<usize>,
        include_raw: bool,
    ) -> Result<(BytesMut, bool), Error> {
        let journal = self.journal(id).await?;
        let limit = limit.unwrap_or(PAGE_EVENTS_MAX).clamp(1, PAGE_EVENTS_MAX);
        event_page(&journal, offset, limit, include_raw).await.map_err(|error| match error {
            EventPageError::Storage(error) => error.into(),
            EventPageError::Cursor => Error::Damaged(id.clone()),
        })
    }

    /// A reader of all events after `offset`.
    pub async fn reader(&self, id: &SessionId, offset: u64) -> Result<EventReader, Error> {
        let reader = self.journal(id).await?.reader(StartPosition::Resume(Seq::new(offset)));
        reader.map_err(|_| Error::Damaged(id.clone()))
    }
}

fn or_default(author: Option<Author>) -> Result<Author, Error> {
    author.map_or_else(default_author, Ok)
}
