//! Recognises lines that were typed for something else than the question that is on the screen.

use std::time::Duration;

use protocol::WaitId;

use crate::reading_time::READING_TIME;

/// Why a line from the terminal is neither an answer nor a message; `None` if it is one of them.
///
/// `edited` is the wait that the line was typed to answer, and `open` the one that has been on the screen for `shown_for`.
pub(super) fn stray_line_hint(
    edited: Option<WaitId>,
    open: Option<WaitId>,
    shown_for: Duration,
) -> Option<&'static str> {
    match (edited, open) {
        (None, None) => None,
        (Some(edited), Some(open)) if edited == open && shown_for >= READING_TIME => None,
        (Some(_), None) => Some("the question is no longer open, so this was not sent"),
        (_, Some(_)) => {
            Some("that was typed before the question was on the screen: it is no answer, and was not sent")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_answers_only_the_question_that_it_was_typed_for() {
        let [one, other] = [WaitId::mint(), WaitId::mint()];
        let is_stray = |edited, open, shown_for| stray_line_hint(edited, open, shown_for).is_some();
        assert!(!is_stray(None, None, Duration::ZERO), "a message");
        assert!(!is_stray(Some(one), Some(one), READING_TIME), "an answer");
        assert!(is_stray(Some(one), Some(one), READING_TIME / 2), "typed before it could be read");
        assert!(is_stray(None, Some(one), READING_TIME), "typed as a message");
        assert!(is_stray(Some(one), Some(other), READING_TIME), "typed for another question");
        assert!(is_stray(Some(one), None, READING_TIME), "the question is gone");
    }
}
