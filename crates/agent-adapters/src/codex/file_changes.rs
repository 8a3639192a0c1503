//! Changes of files.

use protocol::message::{FileDiff, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::thread_item::FileChangeItem;
use crate::lenient;

/// The changes of files that one call makes.
#[derive(Debug, Default)]
pub(super) struct FileChanges(Vec<CodexFileChange>);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CodexFileChange {
    path: Option<String>,
    /// The whole content of a file that is added or deleted; hunks of one that is updated.
    diff: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    kind: FileChangeKind,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FileChangeKind {
    #[serde(rename = "type")]
    operation: Option<CodexFileOperation>,
    move_path: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum CodexFileOperation {
    Add,
    Delete,
    #[serde(other)]
    Update,
}

impl FileChanges {
    pub(super) fn parse(changes: &Value) -> Self {
        Self(changes.as_array().into_iter().flatten().map(lenient::object).collect())
    }

    /// Parses the changes in the [`input`] of a call.
    pub(super) fn from_input(input: &Value) -> Self {
        Self::parse(&lenient::object::<FileChangeItem>(input).changes)
    }

    /// The kind of the call that makes these changes.
    pub(super) fn kind(&self) -> ToolKind {
        let all = |fits: fn(&CodexFileChange) -> bool| !self.0.is_empty() && self.0.iter().all(fits);
        if all(|change| change.kind.operation == Some(CodexFileOperation::Delete)) {
            ToolKind::Delete
        } else if all(|change| change.kind.move_path.is_some()) {
            ToolKind::Move
        } else {
            ToolKind::Edit
        }
    }

    /// The title of the call that makes these changes.
    pub(super) fn title(&self) -> String {
        self.paths().join(", ")
    }

    pub(super) fn paths(&self) -> Vec<&str> {
        self.0.iter().filter_map(|change| change.path.as_deref()).collect()
    }

    pub(super) fn into_diffs(self) -> Vec<FileDiff> {
        self.0.into_iter().map(CodexFileChange::into_diff).collect()
    }
}

impl CodexFileChange {
    fn into_diff(self) -> FileDiff {
        let (unified, old_text, new_text) = match self.kind.operation {
            Some(CodexFileOperation::Add) => (None, None, self.diff),
            Some(CodexFileOperation::Delete) => (None, self.diff, None),
            Some(CodexFileOperation::Update) | None => (self.diff, None, None),
        };
        let path = self.kind.move_path.or(self.path).unwrap_or_default();
        FileDiff { path, unified, old_text, new_text }
    }
}

/// The input of a call that makes `changes`. It holds the changes themselves, because a person decides about them.
pub(super) fn input(changes: &Value) -> Value {
    json!({ "changes": changes })
}
