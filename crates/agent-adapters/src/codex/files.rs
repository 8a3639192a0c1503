//! Changes of files.

use protocol::message::{FileDiff, ToolKind};
use serde_json::{Value, json};

fn each(changes: &Value) -> impl Iterator<Item = &Value> {
    changes.as_array().into_iter().flatten()
}

/// What all of them do.
pub(super) fn kind(changes: &Value) -> ToolKind {
    let all = |fits: fn(&Value) -> bool| each(changes).next().is_some() && each(changes).all(fits);
    if all(|change| change["kind"]["type"] == "delete") {
        ToolKind::Delete
    } else if all(|change| change["kind"]["move_path"].is_string()) {
        ToolKind::Move
    } else {
        ToolKind::Edit
    }
}

/// The files, for people.
pub(super) fn title(changes: &Value) -> String {
    paths(changes).join(", ")
}

/// The files.
pub(super) fn paths(changes: &Value) -> Vec<&str> {
    each(changes).filter_map(|change| change["path"].as_str()).collect()
}

/// What is to be done with which file, with the change itself: it is what a person is asked about.
pub(super) fn input(changes: &Value) -> Value {
    json!({ "changes": changes })
}

/// What was changed.
pub(super) fn diffs(changes: &Value) -> Vec<FileDiff> {
    let diff = |change: &Value| {
        // The whole content of a file that is added or removed, and hunks of one that is changed.
        let text = change["diff"].as_str().map(str::to_owned);
        let (unified, old_text, new_text) = match change["kind"]["type"].as_str() {
            Some("add") => (None, None, text),
            Some("delete") => (None, text, None),
            _ => (text, None, None),
        };
        let path = change["kind"]["move_path"].as_str().or_else(|| change["path"].as_str());
        FileDiff { path: path.unwrap_or_default().to_owned(), unified, old_text, new_text }
    };
    each(changes).map(diff).collect()
}
