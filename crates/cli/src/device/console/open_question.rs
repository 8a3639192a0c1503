//! The question that is currently shown on the terminal.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::{line_reader::TypedLine, terminal_prompt::PendingQuestion};
use crate::reading_time::READING_TIME;

/// How long the owner may take to answer. Most callers give up earlier.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// The question that is currently shown on the terminal.
pub(super) struct OpenQuestion {
    pub(super) pending: PendingQuestion,
    /// When the last part of it was shown.
    shown_at: Instant,
    times_out_at: Instant,
    /// Lines entered from this moment on are answers.
    answerable_since: Option<Instant>,
}

/// An event of an open question, besides typed lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuestionEvent {
    /// It has been shown long enough to be answered.
    Readable,
    TimedOut,
    /// The request was cancelled.
    Withdrawn,
}

impl OpenQuestion {
    /// Records that the question is shown now.
    pub(super) fn new(pending: PendingQuestion) -> Self {
        let shown_at = Instant::now();
        Self { pending, shown_at, times_out_at: shown_at + ANSWER_TIMEOUT, answerable_since: None }
    }

    /// Records that all of it is shown now. It has to be readable for a moment before it can be answered.
    pub(super) fn shown_again(&mut self) {
        self.shown_at = Instant::now();
        self.answerable_since = None;
    }

    /// Accepts answers from now on.
    pub(super) fn allow_answers(&mut self) {
        self.answerable_since = Some(Instant::now());
    }

    pub(super) fn is_answerable(&self) -> bool {
        self.answerable_since.is_some()
    }

    /// Whether a line was entered late enough to be an answer to this question.
    pub(super) fn accepts(&self, line: &TypedLine) -> bool {
        self.answerable_since.is_some_and(|since| since <= line.entered_at)
    }

    /// The next event. Cancel safe.
    pub(super) async fn next_event(&mut self) -> QuestionEvent {
        let readable_at = self.shown_at + READING_TIME;
        tokio::select! {
            () = self.pending.withdrawn() => QuestionEvent::Withdrawn,
            () = sleep_until(readable_at), if self.answerable_since.is_none() => QuestionEvent::Readable,
            () = sleep_until(self.times_out_at) => QuestionEvent::TimedOut,
        }
    }
}

#[cfg(test)]
mod tests {
    use device::{Answer, Prompt};
    use protocol::relay::{RawJson, Request};

    use super::{super::terminal_prompt::prompt, *};

    fn typed() -> TypedLine {
        TypedLine { text: "y".into(), entered_at: Instant::now() }
    }

    /// relay-143: a line that was typed before the question was readable does not answer it.
    #[tokio::test]
    async fn a_line_typed_before_the_question_was_readable_is_not_an_answer() {
        let (terminal, mut questions) = prompt();
        let request = Request { id: "1".into(), method: "x".into(), params: RawJson::empty(), context: None };
        let asking = terminal.ask(device::Question { request: &request, subject: None, agreement: None });
        let answering = async {
            let before = typed();
            let mut open = OpenQuestion::new(questions.recv().await.unwrap());
            let meanwhile = typed();
            assert!(!open.accepts(&before) && !open.accepts(&meanwhile));
            assert_eq!(open.next_event().await, QuestionEvent::Readable);
            assert!(open.shown_at.elapsed() >= READING_TIME);
            let last = typed();
            open.allow_answers();
            assert!(!open.accepts(&before) && !open.accepts(&meanwhile) && !open.accepts(&last));
            assert!(open.accepts(&typed()));
            open.pending.answer(Answer::Once);
        };
        assert_eq!(tokio::join!(asking, answering).0, Ok(Answer::Once));
    }
}
