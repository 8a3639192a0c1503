//! What a tool changed in files.

use std::fmt::Write;

use protocol::message::FileDiff;
use serde_json::Value;

use crate::stream_json::{list, text};

/// What a finished call changed: as its result says, or else as its input does.
pub(crate) fn diffs(name: &str, input: &Value, result: Option<&Value>) -> Vec<FileDiff> {
    result.and_then(from_result).or_else(|| from_input(name, input)).into_iter().collect()
}

fn from_result(result: &Value) -> Option<FileDiff> {
    let path = text(result, "filePath")?;
    let hunks = list(result, "structuredPatch");
    let mut diff = FileDiff { path: path.into(), unified: None, old_text: None, new_text: None };
    diff.unified = text(result, "unified").map(Into::into);
    if !hunks.is_empty() {
        diff.unified = Some(unified(path, hunks));
    }
    if diff.unified.is_some() {
        return Some(diff);
    }
    // A new file has no patch.
    (text(result, "type") == Some("create")).then(|| {
        diff.new_text = Some(text(result, "content").unwrap_or_default().into());
        diff
    })
}

fn unified(path: &str, hunks: &[Value]) -> String {
    let mut patch = format!("--- {path}\n+++ {path}\n");
    for hunk in hunks {
        let number = |key: &str| hunk.get(key).and_then(Value::as_u64).unwrap_or_default();
        let (old, new) = (number("oldStart"), number("newStart"));
        // Writing to a text cannot fail.
        let _ = writeln!(patch, "@@ -{old},{} +{new},{} @@", number("oldLines"), number("newLines"));
        for line in list(hunk, "lines").iter().filter_map(Value::as_str) {
            let _ = writeln!(patch, "{line}");
        }
    }
    patch
}

fn from_input(name: &str, input: &Value) -> Option<FileDiff> {
    let any = |keys: [&str; 2]| {
        keys.iter().find_map(|key| input.get(key)).and_then(Value::as_str).map(str::to_owned)
    };
    let path = any(["file_path", "path"])?;
    let (old_text, new_text) = match name {
        "Edit" | "edit_file" => (any(["old_string", "old_str"]), any(["new_string", "new_str"])),
        "Write" | "create_file" => (None, any(["content", "content"])),
        _ => return None,
    };
    Some(FileDiff { path, unified: None, old_text, new_text })
}
