//! Passes approval questions from the device to the console and the answers back.

use async_trait::async_trait;
use device::{Answer, Prompt, Unanswered};
use tokio::sync::{mpsc, oneshot};

use super::approval_question::ApprovalQuestion;

/// The console shows one question at a time; further requests wait in `ask`.
const QUESTIONS_MAX: usize = 1;

/// A question that waits for the owner's answer.
pub(in crate::device) struct PendingQuestion {
    pub(super) question: ApprovalQuestion,
    reply: oneshot::Sender<Answer>,
}

impl PendingQuestion {
    pub(super) fn answer(self, answer: Answer) {
        // Fails only if the request was cancelled at this moment.
        let _ = self.reply.send(answer);
    }

    /// Returns when the request is cancelled. Cancel safe.
    pub(super) async fn withdrawn(&mut self) {
        self.reply.closed().await;
    }
}

/// Asks the owner through the console's terminal.
pub(in crate::device) struct TerminalPrompt(mpsc::Sender<PendingQuestion>);

/// A prompt for the device, and the receiver of its questions for the console.
pub(in crate::device) fn prompt() -> (TerminalPrompt, mpsc::Receiver<PendingQuestion>) {
    let (sender, questions) = mpsc::channel(QUESTIONS_MAX);
    (TerminalPrompt(sender), questions)
}

#[async_trait]
impl Prompt for TerminalPrompt {
    async fn ask(&self, question: device::Question<'_>) -> Result<Answer, Unanswered> {
        let (reply, answer) = oneshot::channel();
        let pending = PendingQuestion { question: ApprovalQuestion::new(question)?, reply };
        self.0.send(pending).await.map_err(|_| Unanswered::Nobody)?;
        // The console drops the question when it times out.
        answer.await.map_err(|_| Unanswered::Nobody)
    }
}
