//! Risk levels and approval policies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Risk of using a tool. A greater value is riskier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolRisk {
    /// Harmless.
    Low,
    /// Has effects that can be undone.
    Medium,
    /// Has effects that are hard to undo.
    High,
    /// Has effects that cannot be undone.
    Critical,
}

/// The approval that an operation needs. A greater value is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalPolicy {
    /// No approval.
    Allow,
    /// A user approves once, for all later requests.
    AskOnce,
    /// A user approves once per run.
    AskOncePerRun,
    /// A user approves each request.
    AlwaysAsk,
    /// The operation is forbidden.
    Block,
}

impl ApprovalPolicy {
    /// Returns the stricter of two policies.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        self.max(other)
    }
}
