//! How the owner of a device is asked.

use async_trait::async_trait;
use protocol::relay::{MethodInfo, RelayError, RelayErrorCode, Request};

use super::{Agreement, Subject};

/// Asks the owner.
#[async_trait]
pub trait Prompt: Send + Sync + 'static {
    /// What the owner says.
    ///
    /// # Errors
    /// If they say nothing.
    async fn ask(&self, question: Question<'_>) -> Result<Answer, Unanswered>;
}

/// What the owner is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Whether this may be done.
    pub request: &'a Request,
    /// What it uses, if its provider tells.
    pub subject: Option<&'a Subject>,
    /// What [`Answer::Remember`] agrees to; none if no answer is remembered.
    pub agreement: Option<&'a Agreement>,
}

/// What the owner says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It may not be done.
    No,
    /// It may be done this once: nothing is remembered.
    Once,
    /// It may be done, and so may whatever else the agreement covers.
    Remember,
}

/// Why the owner says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    /// Nobody is there, or nobody answers.
    Nobody,
    /// It cannot be shown whole, so that nobody could know what they agree to.
    TooLong,
}

impl Unanswered {
    pub(super) fn refusal(self, row: &MethodInfo) -> RelayError {
        let (why, reason) = match self {
            Self::Nobody => ("the device's owner is not there to approve this request", "nobody"),
            Self::TooLong => {
                ("this request is too long to show to the device's owner for approval", "too_long_to_show")
            }
        };
        RelayError::new(RelayErrorCode::ApprovalRequired, why).with("method", row.name).with("reason", reason)
    }
}

/// Nobody is there to be asked.
#[derive(Debug)]
pub struct Nobody;

#[async_trait]
impl Prompt for Nobody {
    async fn ask(&self, _: Question<'_>) -> Result<Answer, Unanswered> {
        Err(Unanswered::Nobody)
    }
}
