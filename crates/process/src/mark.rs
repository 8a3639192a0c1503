//! The mark by which everyone that descends from one child is known again.

use uuid::Uuid;

/// The variable that a child and all its descendants carry.
pub const MARK_VARIABLE: &str = "TOMBOLO_CHILD";

/// One child's own value of [`MARK_VARIABLE`]. It is random, so whoever carries it descends from that child.
#[derive(Debug, Clone)]
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new() -> Self {
        Self(Uuid::new_v4().simple().to_string())
    }

    pub(crate) fn value(&self) -> &str {
        &self.0
    }
}
