//! `file.search`: text search in files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::relay::{RelayPath, RootId};

/// Parameters of `file.search`, with the semantics of ripgrep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchFiles {
    /// The root.
    pub root_id: RootId,
    /// File or directory to search.
    pub path: RelayPath,
    /// Pattern to search for.
    pub pattern: String,
    /// Interpret the pattern as a regular expression instead of a literal text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub regex: bool,
    /// Case sensitivity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseSensitivity>,
    /// Search only files that match one of these globs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Skip files that match one of these globs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Number of context lines around each match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u32>,
    /// Maximum number of matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Time limit in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// Case sensitivity of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaseSensitivity {
    /// Upper and lower case differ.
    #[default]
    Sensitive,
    /// Upper and lower case are equal.
    Insensitive,
    /// Case sensitive only if the pattern contains an upper-case letter.
    Smart,
}

/// Matches found since the previous batch: `data` of a `progress` stream frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatchBatch {
    /// The matches.
    pub matches: Vec<SearchMatch>,
}

/// A matching line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchMatch {
    /// Path of the file below the root.
    pub path: RelayPath,
    /// Line number, from 1.
    pub line: u64,
    /// Byte position of the match in the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// The matching line.
    pub text: String,
    /// Context lines before the match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Context lines after the match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// Result of `file.search`, sent after all batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchSummary {
    /// Number of matching lines.
    pub matches: u64,
    /// Number of files with matches.
    pub files: u64,
    /// Whether the search stopped at a limit.
    pub truncated: bool,
}
