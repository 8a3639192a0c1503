//! What a request is about: read once, for what is decided about it and for what is written down of it.

use std::borrow::Cow;

use protocol::relay::{
    Family, MethodAccess, MethodInfo, RawJson, RelayError, RelayErrorCode, RelayMethod, RelayPath, RootId,
    RootMode, ToolName, VirtualPath,
    method::{ShellStart, ToolCall},
};
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use super::acceptance::Allowed;

/// How much of a name is written down.
const NAME_CHARS_MAX: usize = 256;

/// The longest name of a command or of a use of a tool.
const ID_BYTES_MAX: usize = 256;

/// What a request is about.
#[derive(Debug, Default)]
pub(crate) struct Target {
    pub(crate) root_id: Option<RootId>,
    pub(crate) virtual_path: Option<VirtualPath>,
    path: Option<RelayPath>,
    /// The tool that is used.
    pub(crate) tool: Option<ToolName>,
    /// What goes on that it is about.
    pub(crate) started: Option<Started>,
    /// What was asked in short, without contents and secrets.
    pub(crate) summary: Map<String, Value>,
    /// What it is about, for people.
    pub(crate) label: Option<String>,
    /// How long a command may take, if it says so.
    pub(crate) timeout_ms: Option<u64>,
}

/// Something that goes on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Started {
    /// A command, by the name that the device gave it.
    Command(String),
    /// The use of a tool, by the name that whoever uses it gave it.
    Use(String),
}

/// What is read of the params of `file.*`. Contents are not looked at, but how long they are.
#[derive(Deserialize)]
struct About<'a> {
    root_id: RootId,
    path: RelayPath,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    offset: Option<u64>,
    length: Option<u64>,
    #[serde(default)]
    recursive: bool,
    timeout_ms: Option<u64>,
}

/// What is read of the params of `shell.start`: never the arguments or the variables.
#[derive(Deserialize)]
struct Command<'a> {
    #[serde(borrow)]
    command: Option<Cow<'a, str>>,
    #[serde(borrow)]
    argv: Option<Vec<Cow<'a, str>>>,
    cwd: Option<VirtualPath>,
    #[serde(default)]
    background: bool,
    timeout_ms: Option<u64>,
}

/// What is read of the params of other methods.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    command_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    call_id: Option<Cow<'a, str>>,
    name: Option<ToolName>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

impl Target {
    /// Reads what a request is about.
    ///
    /// # Errors
    /// `invalid_request` if it makes no sense.
    pub(crate) fn of(row: &'static MethodInfo, params: &RawJson) -> Result<Self, RelayError> {
        let invalid = |error: serde_json::Error| row.invalid_params(&error);
        match row.family {
            Family::Fileops => Ok(Self::file(serde_json::from_str(params.as_str()).map_err(invalid)?)),
            Family::Shell if row.name == ShellStart::INFO.name => {
                Ok(Self::command(&serde_json::from_str(params.as_str()).map_err(invalid)?))
            }
            _ => {
                let target = Self::named(row, serde_json::from_str(params.as_str()).map_err(invalid)?)?;
                match row.name == ToolCall::INFO.name && target.tool.is_none() {
                    true => Err(RelayError::new(RelayErrorCode::InvalidRequest, "`name` is missing")
                        .with("method", row.name)),
                    false => Ok(target),
                }
            }
        }
    }

    fn file(about: About<'_>) -> Self {
        let mut summary = Map::new();
        let mut put = |name: &str, value: Option<u64>| {
            if let Some(value) = value {
                summary.insert(name.into(), value.into());
            }
        };
        put("offset", about.offset);
        put("length", about.length);
        // Without its quotes.
        put("content_bytes", about.content.map(|content| content.get().len().saturating_sub(2) as u64));
        if about.recursive {
            summary.insert("recursive".into(), true.into());
        }
        let timeout_ms = about.timeout_ms;
        Self { root_id: Some(about.root_id), path: Some(about.path), summary, timeout_ms, ..Self::default() }
    }

    fn command(command: &Command<'_>) -> Self {
        let mut summary = Map::new();
        let words = command.argv.as_ref().map(Vec::len);
        // The first word is the program; what comes after it may be a secret.
        let program = command.argv.as_ref().and_then(|argv| argv.first()).map(|word| word.to_string());
        // Nor are variables that are set before it.
        let first = |line: &Cow<'_, str>| {
            let mut words = line.split_whitespace();
            words.find(|word| !word.contains('=')).unwrap_or_default().to_owned()
        };
        let program = program.or_else(|| command.command.as_ref().map(first)).map(|name| cut(&name));
        if let Some(program) = &program {
            summary.insert("program".into(), program.as_str().into());
        }
        if let Some(words) = words {
            summary.insert("words".into(), words.into());
        }
        if let Some(cwd) = &command.cwd {
            summary.insert("cwd".into(), cwd.as_str().into());
        }
        if command.background {
            summary.insert("background".into(), true.into());
        }
        Self { summary, label: program, timeout_ms: command.timeout_ms, ..Self::default() }
    }

    fn named(row: &'static MethodInfo, named: Named<'_>) -> Result<Self, RelayError> {
        let mut summary = Map::new();
        // Only what the device looks at: whatever else is said does not stand in for it.
        let (name, id) = match row.family {
            Family::Tools => ("call_id", named.call_id),
            _ => ("command_id", named.command_id),
        };
        if let Some(id) = id.as_deref().filter(|id| id.len() > ID_BYTES_MAX) {
            let why = format!("`{name}` is too long");
            let too_long = RelayError::new(RelayErrorCode::InvalidRequest, why).with("method", row.name);
            return Err(too_long.with("limit", ID_BYTES_MAX).with("actual", id.len()));
        }
        if let Some(id) = &id {
            summary.insert(name.into(), cut(id).into());
        }
        let started = id.map(Cow::into_owned).and_then(|id| match row.family {
            Family::Tools => Some(Started::Use(id)),
            Family::Shell => Some(Started::Command(id)),
            _ => None,
        });
        for (name, value) in [("arguments_bytes", named.arguments), ("data_bytes", named.data)] {
            if let Some(value) = value {
                summary.insert(name.into(), value.get().len().into());
            }
        }
        let label = named.name.as_ref().map(ToString::to_string);
        if let Some(name) = &label {
            summary.insert("tool".into(), name.as_str().into());
        }
        Ok(Self { tool: named.name, started, summary, label, ..Self::default() })
    }

    /// Whether it may be touched, as far as that can be told here: the device looks at its disk.
    ///
    /// # Errors
    /// `permission_denied` if not.
    pub(crate) fn check(&mut self, row: &'static MethodInfo, allowed: &Allowed) -> Result<(), RelayError> {
        let (Some(id), Some(path)) = (&self.root_id, &self.path) else {
            return match row.family == Family::Shell && allowed.shell.is_none() {
                true => Err(RelayError::new(RelayErrorCode::PermissionDenied, "no grant allows commands")),
                false => Ok(()),
            };
        };
        let denied =
            |why: &str| RelayError::new(RelayErrorCode::PermissionDenied, why).with("root_id", id.as_str());
        let root = allowed.root(id).ok_or_else(|| denied("there is no such root"))?;
        let path = root.virtual_path.join(path).ok_or_else(|| denied("the path leads outside its root"))?;
        self.label = Some(path.to_string());
        self.virtual_path = Some(path);
        match row.access == MethodAccess::Write && root.mode == RootMode::Ro {
            true => Err(denied("the root is read-only")),
            false => Ok(()),
        }
    }
}

fn cut(name: &str) -> String {
    name.chars().filter(|char| !char.is_control()).take(NAME_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests;
