//! Renders a permission request as lines: the command, the path, the change of a file, and every other part of its input.
//!
//! Nothing is left out, because a user who approves a request must have been able to read all of it.

use protocol::{message::FileDiff, wait::PermissionRequest};
use serde_json::{Map, Value};

use super::{diff::all_diff_lines, screen::TextStyle};
use crate::shell_word::quoted;

/// Members that hold the old and the new text of a change, as the agents name them.
const CHANGES: [(&str, &str); 3] =
    [("old_string", "new_string"), ("oldString", "newString"), ("oldText", "newText")];

/// Members that hold the whole new content of a file.
const CONTENTS: [&str; 2] = ["content", "contents"];

/// Members that name a file.
const PATHS: [&str; 4] = ["file_path", "filePath", "path", "notebook_path"];

/// One line, and how it looks.
pub(super) type StyledLine = (TextStyle, String);

/// All that a permission request says of itself below its title.
pub(super) fn lines(permission: &PermissionRequest) -> Vec<StyledLine> {
    match &permission.input {
        Value::Null => Vec::new(),
        Value::Object(input) => object_lines(input),
        other => labelled("with", &text(other)),
    }
}

/// Whether a text in the input has more than one line.
pub(super) fn has_line_breaks(input: &Value) -> bool {
    match input {
        Value::String(text) => text.contains('\n'),
        Value::Array(items) => items.iter().any(has_line_breaks),
        Value::Object(members) => {
            members.iter().any(|(name, value)| name.contains('\n') || has_line_breaks(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn object_lines(input: &Map<String, Value>) -> Vec<StyledLine> {
    let mut rest = input.clone();
    let mut lines = Vec::new();
    if let Some(command) = rest.remove("command") {
        lines.extend(labelled("command", &text(&command)));
    }
    let path = PATHS.iter().find_map(|name| match rest.get(*name) {
        Some(Value::String(path)) => Some(((*name).to_owned(), path.clone())),
        _ => None,
    });
    if let Some((name, path)) = &path {
        rest.remove(name);
        lines.extend(labelled("file", path));
    }
    let path = path.map(|(_, path)| path).unwrap_or_default();
    for (old, new) in CHANGES {
        if let (Some(Value::String(_)), Some(Value::String(_))) = (rest.get(old), rest.get(new)) {
            let (old, new) = (rest.remove(old), rest.remove(new));
            lines.extend(change(
                &path,
                old.as_ref().and_then(Value::as_str),
                new.as_ref().and_then(Value::as_str),
            ));
        }
    }
    for name in CONTENTS {
        if rest.get(name).is_some_and(Value::is_string) {
            let content = rest.remove(name);
            lines.extend(change(&path, None, content.as_ref().and_then(Value::as_str)));
        }
    }
    for (name, value) in &rest {
        lines.extend(labelled(name, &text(value)));
    }
    lines
}

/// The change of a file, as a diff.
fn change(path: &str, old: Option<&str>, new: Option<&str>) -> Vec<StyledLine> {
    let (old_text, new_text) = (old.map(str::to_owned), new.map(str::to_owned));
    let diff = FileDiff { path: path.to_owned(), unified: None, old_text, new_text };
    all_diff_lines(&diff).into_iter().map(|(style, line)| (style, format!("  {line}"))).collect()
}

/// A value behind its name; further lines of it are indented as far as the first.
fn labelled(name: &str, value: &str) -> Vec<StyledLine> {
    let width = name.chars().count().max(7);
    let mut labels = std::iter::once(name).chain(std::iter::repeat(""));
    let label = |label: &str| format!("  {label:width$} ");
    value.split('\n').map(|line| (TextStyle::Plain, label(labels.next().unwrap_or("")) + line)).collect()
}

/// Text as it is, a list of words as a command line, and anything else as JSON.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(words) if words.iter().all(Value::is_string) => {
            let words: Vec<_> = words.iter().filter_map(Value::as_str).map(quoted).collect();
            words.join(" ")
        }
        other => format!("{other:#}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(input: Value) -> String {
        let Value::Object(input) = input else { panic!("not an object") };
        object_lines(&input).into_iter().map(|(_, line)| line + "\n").collect()
    }

    #[test]
    fn a_command_is_shown_as_itself_and_to_its_end() {
        let command = format!("echo {}; touch HIDDEN-PART", "a\"b ".repeat(1000));
        assert_eq!(shown(json!({ "command": command })), format!("  command {command}\n"));
        let words = json!({ "command": ["bash", "-lc", "ls; id"], "workdir": "/tmp" });
        assert_eq!(shown(words), "  command bash -lc 'ls; id'\n  workdir /tmp\n");
        assert_eq!(shown(json!({ "command": "one\ntwo" })), "  command one\n          two\n");
    }

    #[test]
    fn a_change_is_drawn_before_it_is_approved() {
        let edit =
            json!({ "file_path": "/a.txt", "old_string": "old", "new_string": "new", "replace_all": true });
        assert_eq!(shown(edit), "  file    /a.txt\n  -old\n  +new\n  replace_all true\n");
        let content = (0..100).map(|line| format!("line {line}\n")).collect::<String>();
        let written = shown(json!({ "path": "b", "content": content }));
        assert_eq!(written.lines().count(), 101);
        assert!(written.ends_with("  +line 99\n"), "{written}");
    }
}
