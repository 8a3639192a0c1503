//! `/v1/sessions`: conversations with any agent, in one vocabulary.

use protocol::{
    Author, IdempotencyKey, InputId, SessionId, WaitId,
    sessions::{
        AnswerPermissionRequest, AnswerQuestionRequest, CreateSessionRequest, EditInputRequest, EventPage,
        MessageAccepted, RejectQuestionRequest, SendMessageRequest, Session, SessionCreated,
        SessionInputList, SessionList, SessionSnapshot, TranscriptPage,
    },
};
use reqwest::Method;

use crate::{Answer, Client, Records, Result, client};

/// The sessions of a daemon.
#[derive(Debug, Clone, Copy)]
pub struct Sessions<'a>(pub(crate) &'a Client);

/// Which events to read, and how.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pages {
    /// Only those after this one.
    pub offset: u64,
    /// How many at most; the daemon's choice if none.
    pub limit: Option<u32>,
    /// With what the agent said in its own words.
    pub include_raw: bool,
}

impl Sessions<'_> {
    /// Every session, the one that was used last first.
    pub async fn list(self) -> Result<Answer<SessionList>> {
        self.0.ask(Method::GET, &["v1", "sessions"], &[]).await
    }

    /// Creates a session, or finds it, and has its agent running.
    pub async fn create(
        self,
        id: &SessionId,
        create: &CreateSessionRequest,
    ) -> Result<Answer<SessionCreated>> {
        self.0.tell(Method::POST, &["v1", "sessions", id.as_str()], &[], create).await
    }

    /// One session as it is now.
    pub async fn get(self, id: &SessionId) -> Result<Answer<Session>> {
        self.0.ask(Method::GET, &["v1", "sessions", id.as_str()], &[]).await
    }

    /// Ends a session and its agent, and forgets it; it need not be there.
    pub async fn delete(self, id: &SessionId) -> Result<Answer<()>> {
        self.0.ask(Method::DELETE, &["v1", "sessions", id.as_str()], &[]).await
    }

    /// Sends a message. With a key it is safe to send it again.
    pub async fn send(
        self,
        id: &SessionId,
        send: &SendMessageRequest,
        key: Option<&IdempotencyKey>,
    ) -> Result<Answer<MessageAccepted>> {
        let mut request = self.0.request(Method::POST, &of(id, "messages")).json(send);
        if let Some(key) = key {
            request = request.header("idempotency-key", key.as_str());
        }
        client::answer(request).await
    }

    /// A page of the transcript, after the `nextCursor` of the page before.
    pub async fn messages(
        self,
        id: &SessionId,
        cursor: Option<&str>,
        limit: Option<u32>,
    ) -> Result<Answer<TranscriptPage>> {
        let limit = limit.map(|limit| limit.to_string());
        let query = [("cursor", cursor), ("limit", limit.as_deref())];
        self.0.ask(Method::GET, &of(id, "messages"), &query).await
    }

    /// What waits for its turn.
    pub async fn inputs(self, id: &SessionId) -> Result<Answer<SessionInputList>> {
        self.0.ask(Method::GET, &of(id, "inputs"), &[]).await
    }

    /// Changes what an input says, while it waits.
    pub async fn edit(self, id: &SessionId, input: InputId, edit: &EditInputRequest) -> Result<Answer<()>> {
        let segments = ["v1", "sessions", id.as_str(), "inputs", &input.to_string()];
        self.0.tell(Method::PUT, &segments, &[], edit).await
    }

    /// Takes an input back, while it waits.
    pub async fn withdraw(self, id: &SessionId, input: InputId) -> Result<Answer<()>> {
        let segments = ["v1", "sessions", id.as_str(), "inputs", &input.to_string()];
        self.0.ask(Method::DELETE, &segments, &[]).await
    }

    /// A page of events.
    pub async fn page(self, id: &SessionId, pages: Pages) -> Result<Answer<EventPage>> {
        let (offset, limit) = (pages.offset.to_string(), pages.limit.map(|limit| limit.to_string()));
        let raw = pages.include_raw.then_some("true");
        let query = [("offset", Some(offset.as_str())), ("limit", limit.as_deref()), ("includeRaw", raw)];
        self.0.ask(Method::GET, &of(id, "events"), &query).await
    }

    /// What happens after the event `offset`, until the session is deleted.
    pub async fn events(self, id: &SessionId, offset: u64, include_raw: bool) -> Result<Records> {
        Records::open(self.0.clone(), id, offset, include_raw).await
    }

    /// What all events so far come to.
    pub async fn snapshot(self, id: &SessionId) -> Result<Answer<SessionSnapshot>> {
        self.0.ask(Method::GET, &of(id, "snapshot"), &[]).await
    }

    /// Interrupts the turn that runs, if one does.
    pub async fn cancel(self, id: &SessionId) -> Result<Answer<()>> {
        self.0.ask(Method::POST, &of(id, "cancel"), &[]).await
    }

    /// Answers a question.
    pub async fn answer(
        self,
        id: &SessionId,
        question: WaitId,
        reply: &AnswerQuestionRequest,
    ) -> Result<Answer<()>> {
        let segments = ["v1", "sessions", id.as_str(), "questions", &question.to_string(), "reply"];
        self.0.tell(Method::POST, &segments, &[], reply).await
    }

    /// Declines to answer a question.
    pub async fn reject(
        self,
        id: &SessionId,
        question: WaitId,
        author: Option<Author>,
    ) -> Result<Answer<()>> {
        let segments = ["v1", "sessions", id.as_str(), "questions", &question.to_string(), "reject"];
        self.0.tell(Method::POST, &segments, &[], &RejectQuestionRequest { author }).await
    }

    /// Answers a permission.
    pub async fn permit(
        self,
        id: &SessionId,
        permission: WaitId,
        reply: &AnswerPermissionRequest,
    ) -> Result<Answer<()>> {
        let segments = ["v1", "sessions", id.as_str(), "permissions", &permission.to_string(), "reply"];
        self.0.tell(Method::POST, &segments, &[], reply).await
    }
}

fn of<'a>(id: &'a SessionId, what: &'a str) -> [&'a str; 4] {
    ["v1", "sessions", id.as_str(), what]
}
