//! A prompt of the line editor that can be replaced while a line is edited.
//!
//! rustyline has no way to change a prompt or to leave the editor. It redraws the prompt whenever something is printed above it,
//! and asks its helper how the prompt looks: there the prompt of a question that is no longer open is replaced.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use rustyline::{Helper, completion::Completer, highlight::Highlighter, hint::Hinter, validate::Validator};

/// Shown in place of a prompt whose question is no longer open: the first that fits.
const CLOSED_PROMPTS: [&str; 2] = ["no longer asked: press Enter", "closed > "];

/// Whether the question that the editor's prompt asks is no longer open. A clone is the same.
#[derive(Debug, Clone, Default)]
pub(super) struct ClosablePrompt(Arc<AtomicBool>);

impl ClosablePrompt {
    /// Replaces the prompt when it is drawn next.
    pub(super) fn close(&self) {
        self.0.store(true, Relaxed);
    }

    /// A new prompt is about to be shown.
    pub(super) fn reopen(&self) {
        self.0.store(false, Relaxed);
    }
}

impl Highlighter for ClosablePrompt {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _default: bool) -> Cow<'b, str> {
        if self.0.load(Relaxed) { closed_prompt(prompt.chars().count()).into() } else { prompt.into() }
    }
}

/// The replacement of a prompt of this width. The editor has placed the cursor by the width, so that it must stay the same.
fn closed_prompt(width: usize) -> String {
    let text = CLOSED_PROMPTS.into_iter().find(|text| text.chars().count() <= width).unwrap_or_default();
    format!("{text:width$}")
}

impl Completer for ClosablePrompt {
    type Candidate = String;
}

impl Hinter for ClosablePrompt {
    type Hint = String;
}

impl Validator for ClosablePrompt {}

impl Helper for ClosablePrompt {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer_word;

    #[test]
    fn a_closed_prompt_keeps_its_width() {
        let prompt = ClosablePrompt::default();
        for text in [answer_word::PROMPT, answer_word::PROMPT_CUT, "answer > ", "> "] {
            prompt.reopen();
            assert_eq!(prompt.highlight_prompt(text, true), text);
            prompt.close();
            let closed = prompt.highlight_prompt(text, true);
            assert_eq!(closed.chars().count(), text.chars().count());
            assert!(!closed.contains("allow"), "{closed}");
        }
    }
}
