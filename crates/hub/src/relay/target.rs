//! The subject of a request: the parts that the hub's decisions depend on, and the summary for the audit log.

use std::borrow::Cow;

use protocol::relay::{
    Family, MethodAccess, MethodInfo, RawJson, RelayError, RelayErrorCode, RelayMethod, RelayPath, RootId,
    RootMode, ToolName, VirtualPath,
    audit::RequestSummary,
    method::{ShellStart, ToolCall},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::acceptance::Allowed;

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
    /// The description in the audit log, without contents and secrets.
    pub(crate) summary: Map<String, Value>,
    /// A few words that name the subject for people.
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

/// The parameters of `file.*` that decisions depend on.
#[derive(Deserialize)]
struct FileParams {
    root_id: RootId,
    path: RelayPath,
    timeout_ms: Option<u64>,
}

/// The parameters of other methods that decisions depend on.
#[derive(Deserialize)]
struct OperationParams<'a> {
    #[serde(borrow)]
    command_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    call_id: Option<Cow<'a, str>>,
    name: Option<ToolName>,
}

impl Target {
    /// Reads the subject of a request.
    ///
    /// # Errors
    /// `invalid_request` if the parameters are invalid.
    pub(crate) fn of(row: &'static MethodInfo, params: &RawJson) -> Result<Self, RelayError> {
        let invalid = |error: serde_json::Error| row.invalid_params(&error);
        let mut target = match row.family {
            Family::Fileops => Self::file(serde_json::from_str(params.as_str()).map_err(invalid)?),
            Family::Shell if row.name == ShellStart::INFO.name => {
                Self { timeout_ms: ShellStart::params(params)?.timeout_ms, ..Self::default() }
            }
            _ => Self::operation(row, serde_json::from_str(params.as_str()).map_err(invalid)?)?,
        };
        if row.name == ToolCall::INFO.name && target.tool.is_none() {
            return Err(
                RelayError::new(RelayErrorCode::InvalidRequest, "`name` is missing").with("method", row.name)
            );
        }
        target.summary = RequestSummary::from_request(row.name, params).summary;
        target.label = RequestSummary::subject(&target.summary);
        Ok(target)
    }

    fn file(params: FileParams) -> Self {
        let FileParams { root_id, path, timeout_ms } = params;
        Self { root_id: Some(root_id), path: Some(path), timeout_ms, ..Self::default() }
    }

    fn operation(row: &'static MethodInfo, params: OperationParams<'_>) -> Result<Self, RelayError> {
        // The device reads only the id that belongs to the family, so the other one must not stand in for it.
        let (name, id) = match row.family {
            Family::Tools => ("call_id", params.call_id),
            _ => ("command_id", params.command_id),
        };
        if let Some(id) = id.as_deref().filter(|id| id.len() > ID_BYTES_MAX) {
            let why = format!("`{name}` is too long");
            let too_long = RelayError::new(RelayErrorCode::InvalidRequest, why).with("method", row.name);
            return Err(too_long.with("limit", ID_BYTES_MAX).with("actual", id.len()));
        }
        let started = id.map(Cow::into_owned).and_then(|id| match row.family {
            Family::Tools => Some(Started::Use(id)),
            Family::Shell => Some(Started::Command(id)),
            _ => None,
        });
        Ok(Self { tool: params.name, started, ..Self::default() })
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

#[cfg(test)]
mod tests;
