//! `/v1/waits`: everything that stops until a person answers.

use protocol::wait::WaitList;
use reqwest::Method;

use crate::{Answer, Client, Result};

/// The waits of a daemon. They are answered through their sessions.
#[derive(Debug, Clone, Copy)]
pub struct Waits<'a>(pub(crate) &'a Client);

impl Waits<'_> {
    /// Every wait that is open, in all sessions.
    pub async fn list(self) -> Result<Answer<WaitList>> {
        self.0.ask(Method::GET, &["v1", "waits"], &[]).await
    }
}
