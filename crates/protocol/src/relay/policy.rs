//! What can come of a tool, and who must be asked before.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What can come of a tool; the greater is the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Nothing bad.
    Low,
    /// What can be undone.
    Medium,
    /// What is hard to undo.
    High,
    /// What cannot be undone.
    Critical,
}

/// Who must be asked before something is done; the greater is the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Nobody.
    Allow,
    /// Somebody, once for all.
    AskOnce,
    /// Somebody, once in each run.
    AskOncePerRun,
    /// Somebody, each time.
    AlwaysAsk,
    /// It is not done.
    Block,
}

impl Approval {
    /// What holds if the one suggests this and the other says that: the stricter.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        self.max(other)
    }
}
