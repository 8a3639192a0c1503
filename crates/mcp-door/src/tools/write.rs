//! `write_file`.

use relay::{
    Environment,
    environment::{Error, FileOperator, Writing},
};
use rmcp::model::CallToolResult;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{answer, output::ProgressReporter};

#[derive(Deserialize, JsonSchema)]
pub(super) struct WriteFileArguments {
    /// The path of the file to write.
    path: String,
    /// The whole new content of the file.
    content: String,
}

pub(super) async fn write_file(
    environment: Environment,
    WriteFileArguments { path, content }: WriteFileArguments,
    _: ProgressReporter,
) -> Result<CallToolResult, Error> {
    let written = environment.files().write(&path, content.as_bytes(), Writing::default()).await?;
    let text = format!("wrote {} bytes to {path}", written.size_bytes);
    Ok(answer::both(text, json!({ "size_bytes": written.size_bytes, "sha256": written.sha256 })))
}
