//! Checks that the compiler does not make: file sizes, unfinished work, registry hosts, manifests, vocabulary.

mod vocabulary;

use std::{fs, path::Path};

use anyhow::{Context, bail};

use self::vocabulary::Vocabulary;
use crate::sh;

/// A longer file defines more than one thing: split it.
const LINES_MAX: usize = 600;

/// Words that mark unfinished work, split so that this file passes its own check.
const UNFINISHED: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Hosts of package registries. They come from the client's own configuration, never from this repository.
const REGISTRIES: &[&str] = &[
    concat!("registry.npm", "js.org"),
    concat!("files.python", "hosted.org"),
    concat!("static.crates", ".io"),
];

pub(crate) fn run() -> anyhow::Result<()> {
    let listed =
        sh::command("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]).output()?;
    let listed = String::from_utf8(listed.stdout)?;
    let mut faults = Vec::new();
    let mut vocabulary = Vocabulary::default();
    for name in listed.lines() {
        // `git ls-files` also lists files that were deleted but not committed yet.
        let Ok(bytes) = fs::read(sh::root().join(name)) else { continue };
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if is_handwritten(name) {
            check(name, &text, &mut faults);
        }
        if has_vocabulary(name) {
            vocabulary.read(name, &text, &mut faults);
        }
    }
    vocabulary.finish(&mut faults);
    check_manifests(&mut faults)?;
    if !faults.is_empty() {
        bail!("{} untidy places:\n{}", faults.len(), faults.join("\n"));
    }
    Ok(())
}

/// Lock files, generated files and recordings follow their own rules.
fn is_handwritten(name: &str) -> bool {
    !name.ends_with(".lock")
        && !name.ends_with(".snap")
        && !name.ends_with(".json")
        && !name.contains("/src/generated/")
        && !name.starts_with("LICENSE")
}

/// Sources, documents and schemas; recordings and fixtures quote others.
fn has_vocabulary(name: &str) -> bool {
    let extensions = [".rs", ".ts", ".tsx", ".py", ".json", ".md"];
    extensions.iter().any(|extension| name.ends_with(extension)) && !name.starts_with("fixtures/")
}

fn check(name: &str, text: &str, faults: &mut Vec<String>) {
    if (name.ends_with(".rs") || name.ends_with(".ts")) && text.lines().count() > LINES_MAX {
        faults.push(format!("{name}: more than {LINES_MAX} lines"));
    }
    if !text.is_empty() && !text.ends_with('\n') {
        faults.push(format!("{name}: does not end with a line break"));
    }
    for (at, line) in text.lines().enumerate() {
        let mut fault = |what: &str| faults.push(format!("{name}:{}: {what}", at + 1));
        if line.ends_with([' ', '\t']) {
            fault("trailing whitespace");
        }
        // Inside a longer identifier the word is not a marker.
        let mut words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        if words.any(|word| UNFINISHED.contains(&word)) {
            fault("marks unfinished work");
        }
        if REGISTRIES.iter().any(|host| line.contains(host)) {
            fault("names a package registry");
        }
        if name.ends_with(".rs")
            && (line.contains(concat!("#[", "ignore")) || line.contains(concat!("todo", "!(")))
        {
            fault("skips a test or leaves code out");
        }
    }
}

fn check_manifests(faults: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in fs::read_dir(sh::root().join("crates"))? {
        let manifest = entry?.path().join("Cargo.toml");
        let text = fs::read_to_string(&manifest)
            .with_context(|| format!("could not read {}", manifest.display()))?;
        if !text.contains("[lints]\nworkspace = true") {
            faults.push(format!("{}: lacks `[lints] workspace = true`", shown(&manifest)));
        }
        let dependencies = text.split("[dependencies]").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[[").next().unwrap_or_default();
        for line in dependencies.lines().filter(|line| line.contains(" = \"")) {
            faults.push(format!("{}: `{line}` must use `workspace = true`", shown(&manifest)));
        }
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    path.strip_prefix(sh::root()).unwrap_or(path).display().to_string()
}
