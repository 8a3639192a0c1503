//! Redaction by role.

use std::{collections::BTreeMap, sync::Arc};

use protocol::{RuntimeId, hub::Role};
use serde::Deserialize;

use super::{HiddenContent, Policy, PolicySubject, Visibility};

/// The content that is hidden from each role: `{"redact": {"viewer": {"thinking": true, "toolOutput": true, "paths": ["/home/*/.ssh/**"]}}}`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "BTreeMap<Role, HiddenContent>")]
pub struct RedactionPolicy {
    /// By role. A role that is not named sees everything; a user without a role sees the same as a viewer.
    redact: BTreeMap<Role, Arc<HiddenContent>>,
}

impl From<BTreeMap<Role, HiddenContent>> for RedactionPolicy {
    fn from(redact: BTreeMap<Role, HiddenContent>) -> Self {
        Self { redact: redact.into_iter().map(|(role, hidden)| (role, Arc::new(hidden))).collect() }
    }
}

impl RedactionPolicy {
    /// Hides this content from a role.
    #[must_use]
    pub fn with(mut self, role: Role, hidden: HiddenContent) -> Self {
        self.redact.insert(role, Arc::new(hidden));
        self
    }

    /// Whether a role sees directories of sessions relative to a root only. Without a rule, owners see absolute paths.
    pub(super) fn hides_directories(&self, role: Role) -> bool {
        let rule = self.redact.get(&role).and_then(|hidden| hidden.directories);
        rule.unwrap_or(role < Role::Owner)
    }
}

impl Policy for RedactionPolicy {
    fn visibility(&self, subject: &PolicySubject, _: &RuntimeId) -> Visibility {
        match self.redact.get(&subject.role.unwrap_or(Role::Viewer)) {
            Some(hidden) if !hidden.is_nothing() => Visibility::Redacted(hidden.clone()),
            _ => Visibility::Full,
        }
    }
}
