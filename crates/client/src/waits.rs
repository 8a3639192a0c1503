//! `/v1/waits`: everything that stops until a person answers.

use protocol::{
    WaitId,
    wait::{AnswerWaitRequest, Wait, WaitEvent, WaitList},
};
use reqwest::Method;

use crate::{Answer, Client, Result, Told};

/// The waits of a daemon.
#[derive(Debug, Clone, Copy)]
pub struct Waits<'a>(pub(crate) &'a Client);

impl Waits<'_> {
    /// Every wait that is open, in all sessions.
    pub async fn list(self) -> Result<Answer<WaitList>> {
        self.0.ask(Method::GET, &["v1", "waits"], &[]).await
    }

    /// What becomes of the waits, from those that are open now on.
    pub async fn events(self) -> Result<Told<WaitEvent>> {
        Told::open(self.0.clone(), &["v1", "waits", "events"]).await
    }

    /// Answers whatever is asked; how it was settled.
    pub async fn answer(self, id: WaitId, reply: &AnswerWaitRequest) -> Result<Answer<Wait>> {
        self.0.tell(Method::POST, &["v1", "waits", &id.to_string()], &[], reply).await
    }
}
