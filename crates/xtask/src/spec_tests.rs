//! Tests cite statements of `docs/spec` by id. Every cited id must exist, and an id names one statement only.

use std::{collections::BTreeSet, fs};

use crate::sh;

const SPECIFICATIONS: [&str; 6] = ["acp", "daemon", "observation", "relay", "sessions", "typescript"];

/// The ids that the specifications define: list items such as `- **acp-10a** (required): …`.
fn defined_ids() -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for specification in SPECIFICATIONS {
        let file = sh::root().join(format!("docs/spec/{specification}.md"));
        let text = fs::read_to_string(file).unwrap();
        for item in text.lines().filter_map(|line| line.strip_prefix("- **")) {
            let (id, _) = item.split_once("** (").unwrap();
            assert!(id.starts_with(specification), "docs/spec/{specification}.md defines `{id}`");
            assert!(ids.insert(id.to_owned()), "`{id}` is defined twice");
        }
    }
    ids
}

/// The ids that a line cites: the name of a specification, a hyphen, digits and at most one letter.
fn cited_ids(line: &str) -> Vec<&str> {
    let words = line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
    let is_id = |word: &&str| {
        let Some((specification, number)) = word.split_once('-') else { return false };
        let number = number.strip_suffix(|letter: char| letter.is_ascii_lowercase()).unwrap_or(number);
        SPECIFICATIONS.contains(&specification)
            && !number.is_empty()
            && number.bytes().all(|digit| digit.is_ascii_digit())
    };
    words.filter(is_id).collect()
}

#[test]
fn citations_are_found_in_a_line() {
    assert_eq!(
        cited_ids("/// relay-4 to relay-10a: text, acp-http-client, x-relay-1."),
        ["relay-4", "relay-10a"]
    );
}

/// Each statement about event streams is proved by a test.
#[test]
fn every_statement_about_observation_is_cited() {
    let listed = sh::command("git").args(["ls-files", "crates", "sdks", "fuzz"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let tests = listed.lines().filter(|name| {
        [".rs", ".ts", ".tsx"].iter().any(|end| name.ends_with(end)) && !name.ends_with("spec_tests.rs")
    });
    let texts: Vec<_> =
        tests.map(|name| fs::read_to_string(sh::root().join(name)).unwrap_or_default()).collect();
    let cited: BTreeSet<&str> = texts.iter().flat_map(|text| text.lines()).flat_map(cited_ids).collect();
    let defined = defined_ids();
    let missing: Vec<_> =
        defined.iter().filter(|id| id.starts_with("observation-") && !cited.contains(id.as_str())).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

#[test]
fn every_cited_statement_exists() {
    let defined = defined_ids();
    let listed = sh::command("git").args(["ls-files", "crates", "sdks", "fuzz", "docs"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mut citations = 0;
    for name in
        listed.lines().filter(|name| [".rs", ".ts", ".tsx", ".md"].iter().any(|end| name.ends_with(end)))
    {
        // The example of an id that does not exist, above, is not a citation.
        if name.ends_with("spec_tests.rs") {
            continue;
        }
        let text = fs::read_to_string(sh::root().join(name)).unwrap_or_default();
        for id in text.lines().flat_map(cited_ids) {
            assert!(defined.contains(id), "{name} cites `{id}`, which docs/spec does not define");
            citations += 1;
        }
    }
    assert!(citations > 1000, "only {citations} citations were found");
}
