//! A question that stands on the terminal, from when it is shown until it is answered.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::{keyboard::Line, prompt::Asked};

/// How long the owner may take. Whoever asked has mostly given up before.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// How long a question stands there before it can be answered: nobody reads one and types in less, so what is typed
/// until then was meant for something else, such as the question that stood there before.
const READ_MIN: Duration = Duration::from_millis(700);

/// A question that stands on the terminal.
pub(super) struct Turn {
    pub(super) asked: Asked,
    shown: Instant,
    /// Since when it can be answered.
    open: Option<Instant>,
}

/// What becomes of a question without anybody typing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// It has stood there long enough to be answered.
    Readable,
    /// Nobody has answered it in time.
    TooLate,
    /// Nobody waits for the answer any more.
    Withdrawn,
}

impl Turn {
    /// It is shown now.
    pub(super) fn new(asked: Asked) -> Self {
        Self { asked, shown: Instant::now(), open: None }
    }

    /// It can be answered from now on.
    pub(super) fn open(&mut self) {
        self.open = Some(Instant::now());
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether a line was typed for it.
    pub(super) fn takes(&self, line: &Line) -> bool {
        self.open.is_some_and(|open| open <= line.at)
    }

    /// What becomes of it next. Cancel safe.
    pub(super) async fn next(&mut self) -> Event {
        let (readable, late) = (self.shown + READ_MIN, self.shown + WAIT_MAX);
        tokio::select! {
            () = self.asked.withdrawn() => Event::Withdrawn,
            () = sleep_until(readable), if self.open.is_none() => Event::Readable,
            () = sleep_until(late) => Event::TooLate,
        }
    }
}

#[cfg(test)]
mod tests {
    use device::{Answer, Prompt};
    use protocol::relay::{Json, Request};

    use super::{super::prompt::prompt, *};

    fn typed() -> Line {
        Line { text: "y".into(), at: Instant::now() }
    }

    /// relay-143: an answer is one to what was shown, so what was typed before that is none.
    #[tokio::test]
    async fn what_was_typed_before_a_question_could_be_read_is_no_answer() {
        let (terminal, mut questions) = prompt();
        let request = Request { id: "1".into(), method: "x".into(), params: Json::empty(), context: None };
        let asking = terminal.ask(device::Question { request: &request, subject: None, agreement: None });
        let answering = async {
            let before = typed();
            let mut turn = Turn::new(questions.recv().await.unwrap());
            let meanwhile = typed();
            assert!(!turn.takes(&before) && !turn.takes(&meanwhile));
            assert_eq!(turn.next().await, Event::Readable);
            assert!(turn.shown.elapsed() >= READ_MIN);
            let last = typed();
            turn.open();
            assert!(!turn.takes(&before) && !turn.takes(&meanwhile) && !turn.takes(&last));
            assert!(turn.takes(&typed()));
            turn.asked.answer(Answer::Once);
        };
        assert_eq!(tokio::join!(asking, answering).0, Ok(Answer::Once));
    }
}
