//! Short descriptions of requests, for audit records only: no decision is based on them.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, value::RawValue};

use crate::relay::{RawJson, RelayPath, RootId, ToolName, VirtualPath};

/// Maximum length of a recorded text, in characters. Longer ones are cut.
const TEXT_CHARS_MAX: usize = 128;

/// Short description of a request: the file, the program, sizes. It never contains file contents, arguments, values
/// of environment variables or anything else that may hold secrets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestSummary {
    /// The root, for a file request.
    pub root_id: Option<RootId>,
    /// The path below the root, as the caller wrote it.
    pub path: Option<RelayPath>,
    /// All other properties.
    pub summary: Map<String, Value>,
}

/// The parameters, of any method, that the description uses.
#[derive(Default, Deserialize)]
struct SummarizedParams<'a> {
    #[serde(borrow)]
    root_id: Option<&'a RawValue>,
    #[serde(borrow)]
    path: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    argv: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow)]
    command_id: Option<&'a RawValue>,
    #[serde(borrow)]
    signal: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl RequestSummary {
    /// Describes the parameters of a request. Parameters of the wrong type are omitted.
    pub fn from_params(params: &RawJson) -> Self {
        let fields: SummarizedParams<'_> = serde_json::from_str(params.as_str()).unwrap_or_default();
        let mut summary =
            Self { root_id: read(fields.root_id), path: read(fields.path), summary: Map::new() };
        summary.add_size("content_bytes", fields.content);
        summary.add_size("data_bytes", fields.data);
        summary.add_size("arguments_bytes", fields.arguments);
        summary.add_text("cwd", read::<VirtualPath>(fields.cwd).map(String::from));
        summary.add_text("command_id", read(fields.command_id));
        summary.add_text("tool", read::<ToolName>(fields.name).map(String::from));
        match read::<Value>(fields.signal) {
            Some(Value::Number(number)) => summary.add_text("signal", Some(number.to_string())),
            Some(Value::String(name)) => summary.add_text("signal", Some(name)),
            _ => {}
        }
        if let Some(argv) = read::<Vec<String>>(fields.argv) {
            summary.add_text("program", argv.first().filter(|word| is_program(word)).cloned());
            summary.summary.insert("argument_count".into(), argv.len().saturating_sub(1).into());
        }
        if let Some(line) = read::<String>(fields.command) {
            summary.add_text("program", program(&line));
            summary.summary.insert("line_bytes".into(), line.len().into());
        }
        summary
    }

    fn add_size(&mut self, name: &str, value: Option<&RawValue>) {
        if let Some(value) = value {
            self.summary.insert(name.into(), value.get().len().into());
        }
    }

    fn add_text(&mut self, name: &str, text: Option<String>) {
        if let Some(text) = text {
            let text: String = text.chars().filter(|c| !c.is_control()).take(TEXT_CHARS_MAX).collect();
            self.summary.insert(name.into(), text.into());
        }
    }
}

fn read<T: DeserializeOwned>(value: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}

/// Returns the program that a shell line starts, skipping leading variable assignments: their values may be secrets.
fn program(line: &str) -> Option<String> {
    let word = line.split_whitespace().find(|word| !word.contains('='))?;
    // After a quote or an escape, the word may be part of an assigned value.
    let sets = line.split(word).next().unwrap_or_default();
    (is_program(word) && !sets.contains(['\'', '"', '`', '$', '\\'])).then(|| word.to_owned())
}

fn is_program(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'+');
    !word.is_empty() && word.bytes().all(plain)
}

#[cfg(test)]
mod tests;
