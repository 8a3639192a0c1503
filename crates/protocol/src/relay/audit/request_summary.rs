//! Short descriptions of requests, for audit records and traces only: no decision is based on them.

use std::ops::RangeInclusive;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, value::RawValue};

use super::command_summary::{self, CommandSummary};
use crate::relay::{
    Family, MethodInfo, RawJson, RelayMethod, RelayPath, RootId, ToolName, VirtualPath, method::ShellStart,
    shell::Signal,
};

/// Maximum length of a recorded text, in characters. Longer ones are cut.
const TEXT_CHARS_MAX: usize = 128;

/// The signals of Linux. Other numbers are refused by the device and say nothing.
const SIGNAL_NUMBERS: RangeInclusive<i32> = 1..=64;

/// Short description of a request: the file, the programs, sizes. It never contains file contents, arguments, values
/// of environment variables or anything else that may hold secrets. The hub and the device both record this description.
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
    offset: Option<&'a RawValue>,
    #[serde(borrow)]
    length: Option<&'a RawValue>,
    #[serde(borrow)]
    recursive: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    argv: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow)]
    background: Option<&'a RawValue>,
    #[serde(borrow)]
    command_id: Option<&'a RawValue>,
    #[serde(borrow)]
    signal: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl RequestSummary {
    /// Describes a request. It uses only the parameters that the method has, so that another parameter cannot pose as the
    /// subject of the request, and omits those of the wrong type.
    pub fn from_request(method: &str, params: &RawJson) -> Self {
        let mut summary = Self::default();
        // Serde would also accept an array for the parameters, which the methods do not.
        let (Some(row), true) = (MethodInfo::find(method), params.as_str().starts_with('{')) else {
            return summary;
        };
        let params: SummarizedParams<'_> = serde_json::from_str(params.as_str()).unwrap_or_default();
        match row.family {
            Family::Fileops => summary.add_file(&params),
            Family::Shell if row.name == ShellStart::INFO.name => summary.add_command(&params),
            Family::Shell => summary.add_running_command(&params),
            Family::Tools => summary.add_tool_call(&params),
            Family::Resources | Family::Artifacts | Family::Computer => {}
        }
        summary
    }

    /// Names the subject of a recorded request in a few words: its tool, its programs or its command id.
    pub fn subject(summary: &Map<String, Value>) -> Option<String> {
        let text = |name: &str| summary.get(name).and_then(Value::as_str).map(str::to_owned);
        text("tool").or_else(|| command_summary::describe(summary)).or_else(|| text("command_id"))
    }

    fn add_file(&mut self, params: &SummarizedParams<'_>) {
        self.root_id = read(params.root_id);
        self.path = read(params.path);
        self.add_size("content_bytes", params.content);
        for (name, value) in [("offset", params.offset), ("length", params.length)] {
            if let Some(number) = read::<u64>(value) {
                self.summary.insert(name.into(), number.into());
            }
        }
        self.add_flag("recursive", params.recursive);
    }

    fn add_command(&mut self, params: &SummarizedParams<'_>) {
        match (read::<String>(params.command), read::<Vec<String>>(params.argv)) {
            (Some(line), None) => {
                self.summary.insert("line_bytes".into(), line.len().into());
                if let Some(command) = CommandSummary::from_line(&line) {
                    command.write_to(&mut self.summary);
                }
            }
            (None, Some(argv)) => {
                self.summary.insert("argument_count".into(), argv.len().saturating_sub(1).into());
                if let Some(program) = argv.first() {
                    CommandSummary::from_program(program).write_to(&mut self.summary);
                }
            }
            // The device refuses both and neither.
            _ => {}
        }
        self.add_text("cwd", read::<VirtualPath>(params.cwd).map(String::from));
        self.add_flag("background", params.background);
    }

    fn add_running_command(&mut self, params: &SummarizedParams<'_>) {
        self.add_text("command_id", read(params.command_id));
        self.add_size("data_bytes", params.data);
        let signal = match read::<Signal>(params.signal) {
            Some(Signal::Number(number)) => SIGNAL_NUMBERS.contains(&number).then(|| number.to_string()),
            Some(name) => name.known_name().map(str::to_owned),
            None => None,
        };
        self.add_text("signal", signal);
    }

    fn add_tool_call(&mut self, params: &SummarizedParams<'_>) {
        self.add_text("tool", read::<ToolName>(params.name).map(String::from));
        self.add_text("call_id", read(params.call_id));
        self.add_size("arguments_bytes", params.arguments);
    }

    /// Adds the length of a value as JSON; of a text without its quotes.
    fn add_size(&mut self, name: &str, value: Option<&RawValue>) {
        if let Some(value) = value {
            let quotes = if value.get().starts_with('"') { 2 } else { 0 };
            self.summary.insert(name.into(), (value.get().len() - quotes).into());
        }
    }

    fn add_flag(&mut self, name: &str, value: Option<&RawValue>) {
        if read(value) == Some(true) {
            self.summary.insert(name.into(), true.into());
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

#[cfg(test)]
mod tests;
