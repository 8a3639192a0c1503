//! The mark that identifies all descendants of one child, and all children of one process.

use std::sync::LazyLock;

use uuid::Uuid;

/// The environment variable that a child and its descendants carry.
pub const MARK_VARIABLE: &str = "TOMBOLO_CHILD";

/// The part of the mark that all children of this process share.
static PARENT_MARK: LazyLock<String> = LazyLock::new(|| Uuid::new_v4().simple().to_string());

/// The random text that all children of this process carry, and no others. Store it to find with
/// [`kill_children_of`](crate::kill_children_of) what is left of them if this process is killed.
pub fn parent_mark() -> &'static str {
    &PARENT_MARK
}

/// Whether a text may be what [`parent_mark`] returned. A shorter text could match unrelated processes.
#[cfg(target_os = "linux")]
pub(crate) fn is_parent_mark(text: &str) -> bool {
    Uuid::try_parse(text).is_ok_and(|id| id.simple().to_string() == text)
}

/// One child's random value of [`MARK_VARIABLE`]: a process that carries it descends from that child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChildMark {
    /// `TOMBOLO_CHILD=…`, as it appears in an environment.
    entry: String,
}

impl ChildMark {
    pub(crate) fn new() -> Self {
        Self { entry: format!("{MARK_VARIABLE}={}{}", parent_mark(), Uuid::new_v4().simple()) }
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
