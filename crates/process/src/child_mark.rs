//! The mark that identifies all descendants of one child.

use uuid::Uuid;

/// The environment variable that a child and its descendants carry.
pub const MARK_VARIABLE: &str = "TOMBOLO_CHILD";

/// One child's random value of [`MARK_VARIABLE`]: a process that carries it descends from that child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChildMark {
    /// `TOMBOLO_CHILD=…`, as it appears in an environment.
    entry: String,
}

impl ChildMark {
    pub(crate) fn new() -> Self {
        Self { entry: format!("{MARK_VARIABLE}={}", Uuid::new_v4().simple()) }
    }

    pub(crate) fn value(&self) -> &str {
        &self.entry[MARK_VARIABLE.len() + 1..]
    }

    /// The variable with its value, as it appears in an environment.
    #[cfg(target_os = "linux")]
    pub(crate) fn entry(&self) -> &[u8] {
        self.entry.as_bytes()
    }
}
