//! What is hidden, by role.

use std::{collections::BTreeMap, sync::Arc};

use protocol::{RuntimeId, hub::Role};
use serde::Deserialize;

use super::{HiddenContent, Policy, PolicySubject, Visibility};

/// What is hidden from whom: `{"redact": {"viewer": {"thinking": true, "toolOutput": true, "paths": ["/home/*/.ssh/**"]}}}`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "BTreeMap<Role, HiddenContent>")]
pub struct RedactionPolicy {
    /// By role; who has one that is not named sees everything, and who has none what the least sees.
    redact: BTreeMap<Role, Arc<HiddenContent>>,
}

impl From<BTreeMap<Role, HiddenContent>> for RedactionPolicy {
    fn from(redact: BTreeMap<Role, HiddenContent>) -> Self {
        Self { redact: redact.into_iter().map(|(role, hidden)| (role, Arc::new(hidden))).collect() }
    }
}

impl RedactionPolicy {
    /// This is hidden from those who have the role.
    #[must_use]
    pub fn with(mut self, role: Role, hidden: HiddenContent) -> Self {
        self.redact.insert(role, Arc::new(hidden));
        self
    }
}

impl Policy for RedactionPolicy {
    fn visibility(&self, who: &PolicySubject, _: &RuntimeId) -> Visibility {
        match self.redact.get(&who.role.unwrap_or(Role::Viewer)) {
            Some(hidden) if !hidden.is_nothing() => Visibility::Redacted(hidden.clone()),
            _ => Visibility::Full,
        }
    }
}
