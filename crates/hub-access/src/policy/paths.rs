//! Rules for paths that are hidden.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::scanner::PathScanner;

/// The replacement for a hidden path.
pub(super) const MASK: &str = "***";

/// The limits on rules: every character of a text is compared with all of them.
const RULES_MAX: usize = 256;
const RULE_BYTES_MAX: usize = 1024;

/// Members whose text is one path or word rather than prose, so blanks belong to it.
const WHOLE: [&str; 6] = ["directory", "input", "name", "path", "raw", "uri"];

/// Members that hold our own ids, times or enumerated words, and never free text.
const NAMES: [&str; 24] = [
    "acceptedAt",
    "agent",
    "at",
    "callId",
    "createdAt",
    "default",
    "defaultAnswer",
    "expiresAt",
    "id",
    "inputId",
    "kind",
    "openedAt",
    "parentToolCallId",
    "permissionMode",
    "protocol",
    "role",
    "sessionId",
    "settledAt",
    "state",
    "status",
    "time",
    "turnId",
    "type",
    "updatedAt",
];

/// Paths that are hidden wherever they occur in a text.
///
/// In a rule `*` and `?` stand for any characters of a name, and `**` also for `/`. Whatever begins with a path that a
/// rule names is hidden to its end, so a rule for a directory is one for all that is in it. Paths are taken as they are
/// written: links, `..` and other spellings are not seen through.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct PathRules(Vec<PathRule>);

/// A path rule cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPathRules {
    /// There are too many.
    #[error("at most {RULES_MAX} paths are allowed")]
    TooMany,
    /// It is too long.
    #[error("a path is longer than {RULE_BYTES_MAX} bytes")]
    TooLong,
    /// It names nothing in particular.
    #[error("the path `{0}` contains no letter or digit and would hide everything")]
    Everything(String),
}

/// One rule.
#[derive(Debug, Clone)]
pub(super) struct PathRule {
    pub(super) pieces: Vec<PathPiece>,
    /// The rule matches the end of a path, so a match begins where a name begins.
    pub(super) at_name: bool,
}

/// A piece of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathPiece {
    /// This character; `/` also several times.
    Char(char),
    /// One character of a name.
    One,
    /// Any characters of a name.
    Run,
    /// Any characters of names, and what separates them.
    Deep,
}

impl PathRules {
    pub(super) fn rules(&self) -> &[PathRule] {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text without the paths.
    pub(super) fn text(&self, text: &str) -> String {
        let mut scanner = PathScanner::default();
        let mut shown = scanner.push(self, text);
        shown.push_str(&scanner.release());
        shown
    }

    /// Hides the paths in all texts of the value; returns whether there were any. With `whole`, each text is one path.
    pub(super) fn hide(&self, value: &mut Value, whole: bool) -> bool {
        match value {
            Value::String(text) => {
                let shown = self.shown(text, whole);
                let is_other = shown != *text;
                *text = shown;
                is_other
            }
            Value::Array(items) => {
                let mut is_other = false;
                for item in items {
                    is_other |= self.hide(item, whole);
                }
                is_other
            }
            Value::Object(members) => {
                let mut is_other = false;
                for (name, member) in std::mem::take(members) {
                    is_other |= self.hide_member(name, member, whole, members);
                }
                is_other
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    fn hide_member(
        &self,
        name: String,
        mut value: Value,
        whole: bool,
        into: &mut Map<String, Value>,
    ) -> bool {
        if !whole && NAMES.contains(&name.as_str()) && value.is_string() {
            into.insert(name, value);
            return false;
        }
        let is_other = self.hide(&mut value, whole || WHOLE.contains(&name.as_str()));
        let shown = self.shown(&name, true);
        let is_renamed = shown != name;
        into.insert(shown, value);
        is_other || is_renamed
    }

    fn shown(&self, text: &str, whole: bool) -> String {
        let shown = self.text(text);
        match whole && shown != text && shown.starts_with(MASK) {
            true => MASK.into(),
            false => shown,
        }
    }
}

impl TryFrom<Vec<String>> for PathRules {
    type Error = InvalidPathRules;

    fn try_from(rules: Vec<String>) -> Result<Self, InvalidPathRules> {
        if rules.len() > RULES_MAX {
            return Err(InvalidPathRules::TooMany);
        }
        rules.iter().map(|rule| PathRule::parse(rule)).collect::<Result<_, _>>().map(Self)
    }
}

impl PathRule {
    fn parse(text: &str) -> Result<Self, InvalidPathRules> {
        if text.len() > RULE_BYTES_MAX {
            return Err(InvalidPathRules::TooLong);
        }
        if !text.chars().any(char::is_alphanumeric) {
            return Err(InvalidPathRules::Everything(text.into()));
        }
        // Everything after a matching path is hidden anyway.
        let named = text.trim_end_matches(['*', '/']);
        let named = if named.is_empty() { text } else { named };
        let deep = named.strip_prefix("**/");
        let (at_name, mut rest) = match deep {
            Some(rest) => (true, rest),
            None => (!named.starts_with(['/', '~']), named),
        };
        let mut pieces = Vec::new();
        while let Some(first) = rest.chars().next() {
            let (piece, length) = match first {
                '*' if rest.starts_with("**/") => (PathPiece::Deep, 3),
                '*' if rest.starts_with("**") => (PathPiece::Deep, 2),
                '*' => (PathPiece::Run, 1),
                '?' => (PathPiece::One, 1),
                other => (PathPiece::Char(other), other.len_utf8()),
            };
            pieces.push(piece);
            rest = &rest[length..];
        }
        Ok(Self { pieces, at_name })
    }
}

#[cfg(test)]
mod tests;
