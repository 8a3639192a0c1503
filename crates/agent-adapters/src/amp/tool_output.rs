//! Output of Amp's tools: JSON inside a text.

use protocol::message::{ToolCall, ToolKind};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    lenient,
    stream_json::{
        message_block::ToolResultBlock,
        tool_outcome::{StructuredResult, ToolOutcome},
    },
};

/// The beginning of a result of a call that a rule rejected.
const REJECTED: &str = "Tool execution rejected";

/// The output of a command or of an edit.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AmpToolOutput {
    /// The output of a command.
    output: Value,
    exit_code: Option<i64>,
    /// A unified diff, fenced as Markdown.
    #[serde(deserialize_with = "lenient::text")]
    diff: Option<String>,
}

/// The arguments of a tool that changes a file.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AmpFileInput {
    path: Option<String>,
}

/// Takes the JSON out of a result: into the text for people, and the result for programs.
pub(super) fn read_outcome(mut block: ToolResultBlock, call: Option<&ToolCall>) -> ToolOutcome {
    let structured = structured_result(&mut block, call).unwrap_or_default();
    let was_prevented = block.content.as_str().is_some_and(|content| content.starts_with(REJECTED));
    ToolOutcome { block, structured, was_prevented }
}

fn structured_result(block: &mut ToolResultBlock, call: Option<&ToolCall>) -> Option<StructuredResult> {
    let call = call?;
    let json: Value = serde_json::from_str(block.content.as_str()?).ok()?;
    let AmpToolOutput { output, exit_code, diff } = lenient::object(&json);
    match call.kind {
        ToolKind::Execute if exit_code.is_some() => {
            block.content = output;
            Some(StructuredResult { exit_code, ..StructuredResult::default() })
        }
        ToolKind::Edit => {
            let fenced = diff?;
            let diff = fenced.strip_prefix("```diff\n").unwrap_or(&fenced);
            let diff = diff.strip_suffix("```").unwrap_or(diff);
            block.content = diff.into();
            let AmpFileInput { path } = lenient::object(&call.input);
            let unified = Some(diff.to_owned());
            Some(StructuredResult { file_path: path, unified, ..StructuredResult::default() })
        }
        ToolKind::Mcp if json.is_array() => {
            block.content = json;
            None
        }
        _ => None,
    }
}
