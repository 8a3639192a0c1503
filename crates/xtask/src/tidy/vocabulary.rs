//! How the Rust sources speak: unique type names, no citations of requirements outside tests, plain comments.
//!
//! Duplicate names and citations are errors. Wording is only a warning, because a word count cannot tell whether a sentence is
//! understood; the figures show where to look.

use std::collections::BTreeMap;

/// Names that every crate of the field uses, and the domain's own nouns from the glossary.
const SHARED_NAMES: &[&str] = &[
    "Args", "Builder", "Config", "Device", "Error", "Event", "Grant", "Inner", "Message", "Result", "Session",
];

/// Crates whose names and comments are still to be rewritten. A crate leaves this list when it is done, and never returns.
const UNCONVERTED: &[&str] = &["agent-adapters", "agent-catalog", "agent-install", "device", "hub", "relay"];

/// The specifications in `docs/spec` whose statements tests cite by id.
const SPECIFICATIONS: &[&str] = &["acp", "daemon", "observation", "relay", "sessions", "typescript"];

/// Openers that hide the subject of a sentence.
const OPENERS: &[&str] = &[
    "What",
    "Who",
    "Whoever",
    "Whom",
    "Whose",
    "Somebody",
    "Someone",
    "Nobody",
    "Everybody",
    "Of what",
    "Nor",
];

/// Persons that stand in for an actor with a name: client, reader, agent, user.
const PERSONS: &[&str] = &["somebody", "nobody", "whoever", "everybody", "anybody", "those who"];

/// Collects types and wording over all files, and judges them at the end.
#[derive(Default)]
pub(super) struct Vocabulary {
    /// Each type name with the places that define it.
    definitions: BTreeMap<String, Vec<String>>,
    warnings: Vec<String>,
}

impl Vocabulary {
    /// Reads one file; `name` is its path below the root.
    pub(super) fn read(&mut self, name: &str, text: &str, faults: &mut Vec<String>) {
        if is_test(name) {
            return;
        }
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for (at, line) in text.lines().enumerate() {
            let place = format!("{name}:{}", at + 1);
            if let Some(citation) = citation(line) {
                faults.push(format!("{place}: cites `{citation}` outside a test; explain the rule instead"));
            }
            if !name.ends_with(".rs") || is_unconverted(name) {
                continue;
            }
            if let Some(defined) = defined_type(line) {
                self.definitions.entry(defined.to_owned()).or_default().push(place.clone());
            }
            if let Some(comment) = comment(line) {
                self.read_comment(&place, comment);
            }
        }
    }

    fn read_comment(&mut self, place: &str, comment: &str) {
        if OPENERS.iter().any(|opener| starts_with_word(comment, opener)) {
            self.warnings.push(format!("{place}: name the subject: {comment}"));
        }
        let lower = comment.to_lowercase();
        if PERSONS.iter().any(|person| contains_word(&lower, person)) {
            self.warnings.push(format!("{place}: name the actor: {comment}"));
        }
    }

    /// Reports duplicate names as faults and prints the warnings.
    pub(super) fn finish(self, faults: &mut Vec<String>) {
        for (name, places) in self.definitions {
            if places.len() > 1 && !SHARED_NAMES.contains(&name.as_str()) {
                faults.push(format!("the type name `{name}` is used twice: {}", places.join(", ")));
            }
        }
        for warning in &self.warnings {
            println!("warning: {warning}");
        }
    }
}

fn is_test(name: &str) -> bool {
    let path = format!("/{name}");
    path.contains("/tests/")
        || name.ends_with("tests.rs")
        || name.contains(".test.")
        || path.contains("/testing/")
        || path.contains("/docs/spec/")
        // Stands in for a module on platforms that lack what it needs, under the same names.
        || path.ends_with("/unsupported.rs")
}

fn is_unconverted(name: &str) -> bool {
    name.strip_prefix("crates/")
        .and_then(|path| path.split('/').next())
        .is_some_and(|owner| UNCONVERTED.contains(&owner))
}

/// The name of the type that a line defines: `pub struct Name`, `enum Name`, `trait Name`, or a top-level `type Name`.
fn defined_type(line: &str) -> Option<&str> {
    let (is_indented, line) = (line.starts_with(char::is_whitespace), line.trim_start());
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) if rest.starts_with(' ') => rest.trim_start(),
        _ => line,
    };
    let rest = ["struct ", "enum ", "trait "]
        .iter()
        .find_map(|keyword| line.strip_prefix(keyword))
        .or_else(|| line.strip_prefix("type ").filter(|_| !is_indented))?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    rest[..end].starts_with(char::is_uppercase).then(|| &rest[..end])
}

/// The text of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    let body = line.trim_start().strip_prefix("//")?;
    Some(body.trim_start_matches(['/', '!']).trim_start())
}

/// A citation of a requirement: the name of a specification, a separator and a number.
fn citation(line: &str) -> Option<String> {
    for specification in SPECIFICATIONS {
        for separator in ["-", " #"] {
            let needle = format!("{specification}{separator}");
            for (at, _) in line.match_indices(&needle) {
                let is_word =
                    !line[..at].ends_with(|before: char| before.is_alphanumeric() || "-_/".contains(before));
                let digits: String =
                    line[at + needle.len()..].chars().take_while(char::is_ascii_digit).collect();
                if is_word && !digits.is_empty() {
                    return Some(format!("{needle}{digits}"));
                }
            }
        }
    }
    None
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(char::is_alphanumeric)
            && !text[at + word.len()..].starts_with(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_in(files: &[(&str, &str)]) -> Vec<String> {
        let (mut vocabulary, mut faults) = (Vocabulary::default(), Vec::new());
        files.iter().for_each(|(name, text)| vocabulary.read(name, text, &mut faults));
        vocabulary.finish(&mut faults);
        faults
    }

    #[test]
    fn a_type_name_is_unique_in_the_workspace() {
        let files = [
            ("crates/a/src/x.rs", "pub struct Cursor;\n"),
            ("crates/b/src/y.rs", "pub(crate) enum Cursor {}\n"),
        ];
        assert_eq!(
            faults_in(&files),
            ["the type name `Cursor` is used twice: crates/a/src/x.rs:1, crates/b/src/y.rs:1"]
        );
        assert!(faults_in(&files[..1]).is_empty());
        assert!(
            faults_in(&[("crates/a/src/x.rs", "struct Error;"), ("crates/b/src/y.rs", "enum Error {}")])
                .is_empty()
        );
    }

    #[test]
    fn tests_and_crates_that_are_not_converted_may_repeat_a_name() {
        let twice =
            |second: &str| faults_in(&[("crates/a/src/x.rs", "struct Cursor;"), (second, "struct Cursor;")]);
        assert!(twice("crates/a/tests/it/y.rs").is_empty());
        assert!(twice("crates/a/src/x/tests.rs").is_empty());
        assert!(twice("crates/hub/src/y.rs").is_empty());
        for checked in ["crates/b/src/y.rs", "crates/testkit/src/y.rs", "crates/bench/src/y.rs"] {
            assert_eq!(twice(checked).len(), 1, "{checked}");
        }
    }

    #[test]
    fn only_tests_cite_requirements() {
        let cited = |name: &str, line: &str| faults_in(&[(name, line)]).len();
        assert_eq!(cited("crates/a/src/x.rs", concat!("/// Files (relay", "-140).")), 1);
        assert_eq!(cited("docs/openapi.json", concat!("\"Files (relay", " #140).\"")), 1);
        assert_eq!(cited("crates/a/tests/x.rs", concat!("/// relay", "-140: files.")), 0);
        assert_eq!(cited("crates/a/src/x.rs", "let protocol = \"ya-environment-relay-v1\";"), 0);
    }

    #[test]
    fn wording_is_a_warning() {
        let (mut vocabulary, mut faults) = (Vocabulary::default(), Vec::new());
        let text =
            "//! What is left.\n// Whoever reads it waits.\n/// Returns the cursor.\nlet nobody = 1;\n";
        vocabulary.read("crates/a/src/x.rs", text, &mut faults);
        assert_eq!(vocabulary.warnings.len(), 3, "{:?}", vocabulary.warnings);
        assert!(faults.is_empty());
    }
}
