//! `file.search`: what is in files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::relay::{RelayPath, RootId};

/// Searches files as ripgrep does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchFiles {
    /// The root.
    pub root_id: RootId,
    /// The directory or file.
    pub path: RelayPath,
    /// What is looked for.
    pub pattern: String,
    /// Whether the pattern is a regular expression; otherwise it is a text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub regex: bool,
    /// Whether upper and lower case differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<Case>,
    /// Only files that match one of these globs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// No files that match one of these globs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// How many lines around each match are wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u32>,
    /// How many matches at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// How long it may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// Whether upper and lower case differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Case {
    /// They do.
    #[default]
    Sensitive,
    /// They do not.
    Insensitive,
    /// They do if the pattern has an upper case letter.
    Smart,
}

/// Matches that were found since the last batch: the `data` of a `progress` frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatchBatch {
    /// The matches.
    pub matches: Vec<Match>,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Match {
    /// The file, below the root.
    pub path: RelayPath,
    /// The line, from 1.
    pub line: u64,
    /// The byte of the line where it starts, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// The line itself.
    pub text: String,
    /// The lines before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The lines after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// The search is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Searched {
    /// How many lines matched.
    pub matches: u64,
    /// In how many files.
    pub files: u64,
    /// Whether there are more than were looked for.
    pub truncated: bool,
}
