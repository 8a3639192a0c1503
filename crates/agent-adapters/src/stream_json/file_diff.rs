//! The change that a tool call made to a file.

use std::fmt::Write;

use protocol::message::FileDiff;
use serde::Deserialize;
use serde_json::Value;

use super::tool_outcome::StructuredResult;
use crate::lenient;

/// A hunk of a patch.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct PatchHunk {
    old_start: u64,
    old_lines: u64,
    new_start: u64,
    new_lines: u64,
    #[serde(deserialize_with = "lenient::list")]
    lines: Vec<String>,
}

/// The arguments of the tools that change a file. Claude Code has the longer names, Amp the shorter ones.
#[derive(Default, Deserialize)]
#[serde(default)]
struct FileToolInput {
    file_path: Option<String>,
    path: Option<String>,
    old_string: Option<String>,
    old_str: Option<String>,
    new_string: Option<String>,
    new_str: Option<String>,
    content: Option<String>,
}

/// The change that a finished call made, from its result or else from its arguments.
pub(crate) fn file_diff(name: &str, input: &Value, result: &StructuredResult) -> Option<FileDiff> {
    from_result(result).or_else(|| from_input(name, input))
}

fn from_result(result: &StructuredResult) -> Option<FileDiff> {
    let path = result.file_path.clone()?;
    let patch = &result.structured_patch;
    let unified = if patch.is_empty() { result.unified.clone() } else { Some(unified(&path, patch)) };
    let new_text = (unified.is_none() && result.change == "create").then(|| result.content.clone());
    let is_change = unified.is_some() || new_text.is_some();
    is_change.then_some(FileDiff { path, unified, old_text: None, new_text })
}

fn unified(path: &str, hunks: &[PatchHunk]) -> String {
    let mut patch = format!("--- {path}\n+++ {path}\n");
    for PatchHunk { old_start, old_lines, new_start, new_lines, lines } in hunks {
        // Writing to a string cannot fail.
        let _ = writeln!(patch, "@@ -{old_start},{old_lines} +{new_start},{new_lines} @@");
        for line in lines {
            let _ = writeln!(patch, "{line}");
        }
    }
    patch
}

fn from_input(name: &str, input: &Value) -> Option<FileDiff> {
    let input: FileToolInput = lenient::object(input);
    let path = input.file_path.or(input.path)?;
    let (old_text, new_text) = match name {
        "Edit" | "edit_file" => (input.old_string.or(input.old_str), input.new_string.or(input.new_str)),
        "Write" | "create_file" => (None, input.content),
        _ => return None,
    };
    Some(FileDiff { path, unified: None, old_text, new_text })
}
