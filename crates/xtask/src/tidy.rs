//! What the compiler does not check.

use std::{fs, path::Path};

use anyhow::{Context, bail};

use crate::sh;

/// A file that is longer holds two nouns.
const LINES_MAX: usize = 600;

/// Words that mark something unfinished. Written apart, so that this file is tidy too.
const UNFINISHED: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Package registries are named by the client's own configuration, never by us.
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
    for name in listed.lines().filter(|name| is_ours(name)) {
        let path = sh::root().join(name);
        // A file that was deleted and not committed yet is listed all the same.
        let Ok(bytes) = fs::read(&path) else { continue };
        let Ok(text) = String::from_utf8(bytes) else { continue };
        check(name, &text, &mut faults);
    }
    check_manifests(&mut faults)?;
    if !faults.is_empty() {
        bail!("{} untidy places:\n{}", faults.len(), faults.join("\n"));
    }
    Ok(())
}

/// Lock files and what is generated or recorded follow their own rules.
fn is_ours(name: &str) -> bool {
    !name.ends_with(".lock")
        && !name.ends_with(".snap")
        && !name.ends_with(".json")
        && !name.contains("/src/generated/")
        && !name.starts_with("LICENSE")
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
            fault("space at the end of the line");
        }
        // As part of a longer name it is somebody else's word.
        let mut words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        if words.any(|word| UNFINISHED.contains(&word)) {
            fault("unfinished");
        }
        if REGISTRIES.iter().any(|host| line.contains(host)) {
            fault("names a package registry");
        }
        if name.ends_with(".rs")
            && (line.contains(concat!("#[", "ignore")) || line.contains(concat!("todo", "!(")))
        {
            fault("skipped or missing");
        }
    }
}

fn check_manifests(faults: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in fs::read_dir(sh::root().join("crates"))? {
        let manifest = entry?.path().join("Cargo.toml");
        let text = fs::read_to_string(&manifest)
            .with_context(|| format!("could not read {}", manifest.display()))?;
        if !text.contains("[lints]\nworkspace = true") {
            faults.push(format!("{}: does not take the lints of the workspace", shown(&manifest)));
        }
        let dependencies = text.split("[dependencies]").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[[").next().unwrap_or_default();
        for line in dependencies.lines().filter(|line| line.contains(" = \"")) {
            faults
                .push(format!("{}: `{line}` does not take its version from the workspace", shown(&manifest)));
        }
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    path.strip_prefix(sh::root()).unwrap_or(path).display().to_string()
}
