//! `edit_file`.

use protocol::relay::file::{CreateMode, IfMatch};
use relay::{
    Environment,
    environment::{Error, FileOperator, Span, Writing},
};
use rmcp::model::CallToolResult;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::invalid;
use crate::{answer, output::ProgressReporter};

/// The largest file that can be edited.
const FILE_BYTES_MAX: u64 = 8 << 20;

#[derive(Deserialize, JsonSchema)]
pub(super) struct EditFileArguments {
    /// The path of the file to edit.
    path: String,
    /// The text to replace, exactly as it occurs in the file.
    old_text: String,
    /// The replacement text.
    new_text: String,
    /// Replace every occurrence instead of exactly one.
    #[serde(default)]
    replace_all: bool,
}

pub(super) async fn edit_file(
    environment: Environment,
    EditFileArguments { path, old_text, new_text, replace_all }: EditFileArguments,
    _: ProgressReporter,
) -> Result<CallToolResult, Error> {
    if old_text.is_empty() {
        return Err(invalid("`old_text` is empty; use `write_file` to create a file"));
    }
    let files = environment.files();
    let before = files.read_text(&path, Span { offset: 0, length: Some(FILE_BYTES_MAX + 1) }).await?;
    if before.len() as u64 > FILE_BYTES_MAX {
        return Err(invalid(format!("`{path}` is larger than {FILE_BYTES_MAX} bytes")));
    }
    let count = before.matches(&old_text).count();
    match count {
        0 => {
            return Err(invalid(format!(
                "`old_text` does not occur in `{path}`; it must match the file exactly"
            )));
        }
        1 => {}
        _ if replace_all => {}
        _ => {
            let message = format!(
                "`old_text` occurs {count} times in `{path}`; include more of the surrounding text, or set `replace_all`"
            );
            return Err(invalid(message));
        }
    }
    let after = before.replace(&old_text, &new_text);
    // Write only if the file has not changed since it was read.
    let hash: String = Sha256::digest(&before).iter().map(|byte| format!("{byte:02x}")).collect();
    let if_match = hash.parse().ok().map(|sha256| IfMatch::Hash { sha256 });
    let writing = Writing { create: CreateMode::Existing, if_match };
    let written = files.write(&path, after.as_bytes(), writing).await?;
    let text = match count {
        1 => format!("replaced the text in {path}"),
        _ => format!("replaced the text in {path} in {count} places"),
    };
    Ok(answer::both(
        text,
        json!({ "replacements": count, "size_bytes": written.size_bytes, "sha256": written.sha256 }),
    ))
}
