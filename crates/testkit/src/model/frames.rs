//! An answer as it goes over the wire: events, pauses between them, and sometimes a break.

use std::time::Duration;

use serde_json::Value;

/// The longest piece of arguments in one event, so that agents meet arguments in several.
const PIECE_CHARS_MAX: usize = 40;

/// A piece of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Frame {
    /// An event: its name, where the API has names, and its data.
    Event(Option<String>, String),
    /// A line that says nothing.
    Comment,
    Pause(Duration),
    /// The connection breaks; nothing comes after it.
    Cut,
}

/// The pieces of a stream, in the order they are sent.
#[derive(Debug, Default)]
pub(super) struct Frames(Vec<Frame>);

impl Frames {
    /// An event that is named after its `type`.
    pub(super) fn named(&mut self, data: &Value) {
        self.0.push(Frame::Event(data["type"].as_str().map(str::to_owned), data.to_string()));
    }

    /// An event without a name.
    pub(super) fn data(&mut self, data: &impl ToString) {
        self.0.push(Frame::Event(None, data.to_string()));
    }

    pub(super) fn wait(&mut self, time: Duration) {
        // Some agents count a stream as open only when something came.
        self.0.extend([Frame::Comment, Frame::Pause(time)]);
    }

    pub(super) fn pause(&mut self, time: Duration) {
        self.0.push(Frame::Pause(time));
    }

    pub(super) fn cut(mut self) -> Vec<Frame> {
        self.0.push(Frame::Cut);
        self.0
    }

    pub(super) fn end(self) -> Vec<Frame> {
        self.0
    }
}

/// A text in a few pieces.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    split(text, (text.chars().count() / 4 + 1).max(8))
}

/// Arguments in pieces.
pub(super) fn argument_pieces(text: &str) -> Vec<&str> {
    split(text, PIECE_CHARS_MAX)
}

/// The words of a text, each with the space after it, and the time after each.
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
