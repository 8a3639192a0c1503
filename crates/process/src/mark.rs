//! The mark by which everyone that descends from one child is known again.

use uuid::Uuid;

/// The variable that a child and all its descendants carry.
pub const MARK_VARIABLE: &str = "TOMBOLO_CHILD";

/// One child's own value of [`MARK_VARIABLE`]. It is random, so whoever carries it descends from that child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// `TOMBOLO_CHILD=…`, as it stands in an environment.
    entry: String,
}

impl Mark {
    pub(crate) fn new() -> Self {
        Self { entry: format!("{MARK_VARIABLE}={}", Uuid::new_v4().simple()) }
    }

    pub(crate) fn value(&self) -> &str {
        &self.entry[MARK_VARIABLE.len() + 1..]
    }

    /// As it stands in an environment.
    #[cfg(target_os = "linux")]
    pub(crate) fn entry(&self) -> &[u8] {
        self.entry.as_bytes()
    }
}
