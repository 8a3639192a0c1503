//! All that a wait asks, for a user who must have been able to read it before it is allowed.

use protocol::{
    RuntimeId,
    wait::{Wait, WaitRequest},
};
use sha2::{Digest, Sha256};

use crate::{
    chat::request_text::{has_line_breaks, request_lines},
    output::plain,
};

/// How much of a request a row of the list shows: about two lines of a terminal.
const LISTED_CHARS_MAX: usize = 200;

/// How many digits of the SHA-256 a fingerprint has. It protects against a mistake, not against a search for a second text
/// with the same digits: the agent has fixed its request before anyone reads it.
const FINGERPRINT_DIGITS: usize = 8;

/// The separator of the parts of a request that stand on one line.
const SEPARATOR: &str = " · ";

/// A wait as a user reads it.
pub(super) struct WaitText {
    /// The wait, its session and its runtime. Without them, a user who read one request could answer another that asks for
    /// the same in a different place.
    heading: String,
    lines: Vec<String>,
    has_line_breaks: bool,
}

impl WaitText {
    pub(super) fn new(runtime: Option<&RuntimeId>, wait: &Wait) -> Self {
        let runtime = runtime.map(|runtime| format!(" of {runtime}")).unwrap_or_default();
        let heading = format!("{}  session {}{runtime}", wait.id, wait.session_id);
        Self { heading, ..Self::of_request(&wait.request) }
    }

    fn of_request(request: &WaitRequest) -> Self {
        let lines = request_lines(request).iter().map(|line| plain(line)).collect();
        Self { heading: String::new(), lines, has_line_breaks: has_line_breaks(request) }
    }

    /// All of it.
    pub(super) fn full(&self) -> String {
        format!("{}\n{}\n", self.heading, self.lines.join("\n"))
    }

    /// The first digits of the SHA-256 of [`full`](Self::full).
    pub(super) fn fingerprint(&self) -> String {
        let hash = Sha256::digest(self.full());
        let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        digits[..FINGERPRINT_DIGITS].to_owned()
    }

    /// Whether a row of the list shows only the beginning.
    pub(super) fn is_cut(&self) -> bool {
        self.listed_parts().1 > 0
    }

    /// The request on one line, as far as it is short, and how much more there is.
    pub(super) fn listed(&self, wait: &Wait) -> String {
        match self.listed_parts() {
            (text, 0) => text,
            (text, more) => {
                format!("{text}… {more} more characters; `tombolo waits show {}` shows all", wait.id)
            }
        }
    }

    /// The text of a row, and how many characters it leaves out.
    fn listed_parts(&self) -> (String, usize) {
        // The end of a line can be the end of a comment, so lines are joined only where no value has several.
        let joined = match self.lines.first() {
            Some(first) if self.has_line_breaks => first.clone(),
            _ => self.lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(SEPARATOR),
        };
        let text: String = joined.chars().take(LISTED_CHARS_MAX).collect();
        if !self.has_line_breaks && text.len() == joined.len() {
            return (text, 0);
        }
        let all: usize = self.lines.iter().map(|line| line.trim().chars().count()).sum();
        let more = all.saturating_sub(text.chars().count()).max(1);
        (text, more)
    }
}
