//! `/api/waits`: what waits for a person in all runtimes of a hub.

use protocol::{
    RuntimeId, WaitId,
    inbox::{InboxEvent, WaitInbox as Waiting},
    wait::{AnswerWaitRequest, Wait},
};
use reqwest::Method;

use crate::{Answer, Client, Result, Told};

/// The inbox of a hub.
#[derive(Debug, Clone, Copy)]
pub struct Inbox<'a>(pub(crate) &'a Client);

impl Inbox<'_> {
    /// Every wait that is open, in all runtimes.
    pub async fn list(self) -> Result<Answer<Waiting>> {
        self.0.ask(Method::GET, &["api", "waits"], &[]).await
    }

    /// What becomes of the waits, from those that are open now on.
    pub async fn events(self) -> Result<Told<InboxEvent>> {
        Told::open(self.0.clone(), &["api", "waits", "events"]).await
    }

    /// Answers whatever is asked in a runtime; how it was settled.
    pub async fn answer(
        self,
        runtime: &RuntimeId,
        id: WaitId,
        reply: &AnswerWaitRequest,
    ) -> Result<Answer<Wait>> {
        let segments = ["api", "waits", runtime.as_str(), &id.to_string()];
        self.0.tell(Method::POST, &segments, &[], reply).await
    }
}
