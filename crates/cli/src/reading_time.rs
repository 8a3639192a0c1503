//! The time that a question is on the screen before a typed line counts as its answer.

use std::time::Duration;

/// Reading a question and typing an answer takes longer than this, so a line that was entered earlier was meant for something
/// else: the previous question, or a message. Without the delay, a `y` that was typed ahead could approve a request that
/// the user has not read.
pub(crate) const READING_TIME: Duration = Duration::from_millis(700);
