//! A streamed answer as a list of frames: server-sent events, pauses between them, and possibly a broken connection.

use std::time::Duration;

use serde_json::Value;

/// Tool arguments are streamed in pieces of this length. It is short, so that agents have to join pieces.
const PIECE_CHARS_MAX: usize = 40;

/// One element of a streamed answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AnswerFrame {
    /// An event: its name, if the API uses named events, and its data.
    Event(Option<String>, String),
    /// An SSE comment, which clients ignore.
    Comment,
    Pause(Duration),
    /// Breaks the connection. Must be the last frame.
    Cut,
}

/// Builds the frames of a streamed answer.
#[derive(Debug, Default)]
pub(super) struct AnswerFrames(Vec<AnswerFrame>);

impl AnswerFrames {
    /// Adds an event whose name is the `type` of its data, as the Anthropic and Responses APIs have it.
    pub(super) fn push_named(&mut self, data: &Value) {
        self.0.push(AnswerFrame::Event(data["type"].as_str().map(str::to_owned), data.to_string()));
    }

    /// Adds an event without a name, as the Chat Completions and Gemini APIs have it.
    pub(super) fn push_data(&mut self, data: &impl ToString) {
        self.0.push(AnswerFrame::Event(None, data.to_string()));
    }

    /// Adds a pause that may come before any content.
    pub(super) fn push_wait(&mut self, time: Duration) {
        // Some agents treat the stream as open only after its first bytes, so the pause follows a comment.
        self.0.extend([AnswerFrame::Comment, AnswerFrame::Pause(time)]);
    }

    pub(super) fn push_pause(&mut self, time: Duration) {
        self.0.push(AnswerFrame::Pause(time));
    }

    pub(super) fn end_with_cut(mut self) -> Vec<AnswerFrame> {
        self.0.push(AnswerFrame::Cut);
        self.0
    }

    pub(super) fn finish(self) -> Vec<AnswerFrame> {
        self.0
    }
}

/// Splits an answer's text into at most five pieces, so that agents receive it in several deltas.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    split(text, (text.chars().count() / 4 + 1).max(8))
}

/// Splits tool arguments into pieces of `PIECE_CHARS_MAX` characters.
pub(super) fn argument_pieces(text: &str) -> Vec<&str> {
    split(text, PIECE_CHARS_MAX)
}

/// Splits a text into words, each with the white space and the pause after it. The pauses add up to `over`.
pub(super) fn words(text: &str, over: Duration) -> impl Iterator<Item = (&str, Duration)> {
    let words: Vec<_> = text.split_inclusive(char::is_whitespace).collect();
    let each = over / u32::try_from(words.len().max(1)).unwrap_or(u32::MAX);
    words.into_iter().map(move |word| (word, each))
}

fn split(text: &str, chars: usize) -> Vec<&str> {
    let mut starts: Vec<_> = text.char_indices().step_by(chars).map(|(at, _)| at).collect();
    starts.push(text.len());
    starts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_make_up_the_text(text in "\\PC{0,200}") {
            prop_assert_eq!(pieces(&text).concat(), text.clone());
            prop_assert_eq!(argument_pieces(&text).concat(), text.clone());
            prop_assert!(pieces(&text).len() <= 5);
            let words: String = words(&text, Duration::from_secs(1)).map(|(word, _)| word).collect();
            prop_assert_eq!(words, text);
        }
    }
}
