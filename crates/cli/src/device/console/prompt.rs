//! Asks the owner, who sits at the terminal.

use async_trait::async_trait;
use device::{Answer, Prompt, Unanswered};
use tokio::sync::{mpsc, oneshot};

use super::question::Question;

/// One question is asked at a time.
const QUESTIONS_MAX: usize = 1;

/// A question, and where its answer goes.
pub(in crate::device) struct Asked {
    pub(super) question: Question,
    reply: oneshot::Sender<Answer>,
}

impl Asked {
    pub(super) fn answer(self, answer: Answer) {
        // Whoever asked may have given up just now.
        let _ = self.reply.send(answer);
    }

    /// Returns when nobody waits for the answer any more. Cancel safe.
    pub(super) async fn withdrawn(&mut self) {
        self.reply.closed().await;
    }
}

/// Asks the owner, who sits at the terminal.
pub(in crate::device) struct Terminal(mpsc::Sender<Asked>);

/// What asks, and where the questions come.
pub(in crate::device) fn prompt() -> (Terminal, mpsc::Receiver<Asked>) {
    let (questions, asked) = mpsc::channel(QUESTIONS_MAX);
    (Terminal(questions), asked)
}

#[async_trait]
impl Prompt for Terminal {
    async fn ask(&self, question: device::Question<'_>) -> Result<Answer, Unanswered> {
        let (reply, answer) = oneshot::channel();
        let asked = Asked { question: Question::of(question)?, reply };
        self.0.send(asked).await.map_err(|_| Unanswered::Nobody)?;
        // No answer is one of nobody.
        answer.await.map_err(|_| Unanswered::Nobody)
    }
}
