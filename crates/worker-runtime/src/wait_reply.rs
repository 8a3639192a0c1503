//! A person's reply to a wait.

use agent_adapters::Reply as AdapterReply;
use protocol::{
    WaitId,
    wait::{
        PermissionAnswer, PermissionOutcome, QuestionOutcome, QuestionRequest, WaitAnswer, WaitOutcome,
        WaitRequest,
    },
};

use crate::Error;

/// A person's reply to a wait.
pub(crate) enum WaitReply {
    /// The answer to a permission.
    Permission(PermissionAnswer),
    /// The answers to a question or plan.
    Answers(Vec<Vec<String>>),
    /// The rejection of a question or plan.
    RejectQuestion,
    /// The rejection of any wait.
    Reject,
}

impl From<WaitAnswer> for WaitReply {
    fn from(answer: WaitAnswer) -> Self {
        match answer {
            WaitAnswer::Permission(answer) => Self::Permission(answer),
            WaitAnswer::Question(answers) => Self::Answers(answers),
            WaitAnswer::Reject => Self::Reject,
        }
    }
}

impl WaitReply {
    /// The outcome of the wait `id`, and the reply for the agent.
    ///
    /// # Errors
    /// [`Error::WaitNotFound`] if the wait is of another kind; [`Error::InvalidAnswer`].
    pub(crate) fn apply(
        self,
        id: WaitId,
        request: &WaitRequest,
    ) -> Result<(WaitOutcome, AdapterReply), Error> {
        match (request, self) {
            (WaitRequest::Permission(_), Self::Permission(answer)) => Ok(answered_permission(answer)),
            (WaitRequest::Permission(_), Self::Reject) => Ok(answered_permission(PermissionAnswer::Reject)),
            (WaitRequest::Question(question), Self::Answers(answers)) => {
                check_answers(question, &answers)?;
                let outcome = QuestionOutcome::Answered(answers.clone());
                Ok((WaitOutcome::Question(outcome), AdapterReply::Answers(answers)))
            }
            (WaitRequest::Question(_), Self::RejectQuestion | Self::Reject) => {
                Ok((WaitOutcome::Question(QuestionOutcome::Rejected), AdapterReply::Dismissed))
            }
            (WaitRequest::Permission(_), Self::Answers(_) | Self::RejectQuestion)
            | (WaitRequest::Question(_), Self::Permission(_)) => Err(Error::WaitNotFound(id)),
        }
    }
}

/// The reply for the agent when a wait has expired with this outcome.
pub(crate) fn expiry_reply(outcome: &WaitOutcome) -> AdapterReply {
    match outcome {
        WaitOutcome::Permission(_) => AdapterReply::Permission(PermissionAnswer::Reject),
        WaitOutcome::Question(_) => AdapterReply::Dismissed,
    }
}

fn answered_permission(answer: PermissionAnswer) -> (WaitOutcome, AdapterReply) {
    let outcome = match answer {
        PermissionAnswer::Once => PermissionOutcome::Once,
        PermissionAnswer::Always => PermissionOutcome::Always,
        PermissionAnswer::Reject => PermissionOutcome::Reject,
    };
    (WaitOutcome::Permission(outcome), AdapterReply::Permission(answer))
}

/// Checks that the answers fit the questions.
fn check_answers(question: &QuestionRequest, answers: &[Vec<String>]) -> Result<(), Error> {
    let (asked, answered) = (question.questions.len(), answers.len());
    if asked != answered {
        return Err(Error::InvalidAnswer(format!(
            "expected {asked} answers, one for each question, but got {answered}"
        )));
    }
    for (item, chosen) in question.questions.iter().zip(answers) {
        if chosen.is_empty() && item.is_required && item.default_answer.is_empty() {
            return Err(Error::InvalidAnswer(format!("question `{}` needs an answer", item.question)));
        }
        if chosen.len() > 1 && !item.allows_multiple {
            return Err(Error::InvalidAnswer(format!("question `{}` takes only one answer", item.question)));
        }
        let is_offered = |label: &String| item.options.iter().any(|option| option.label == *label);
        if let Some(other) = chosen.iter().find(|label| !item.allows_custom && !is_offered(label)) {
            return Err(Error::InvalidAnswer(format!(
                "`{other}` is not an option of question `{}`",
                item.question
            )));
        }
    }
    Ok(())
}
