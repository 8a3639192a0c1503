//! What is hidden, by role.

use std::{collections::BTreeMap, sync::Arc};

use protocol::{RuntimeId, hub::Role};
use serde::Deserialize;

use super::{Hidden, Policy, Sight, Who};

/// What is hidden from whom: `{"redact": {"viewer": {"thinking": true, "toolOutput": true, "paths": ["/home/*/.ssh/**"]}}}`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "BTreeMap<Role, Hidden>")]
pub struct Redaction {
    /// By role; who has one that is not named sees everything, and who has none what the least sees.
    redact: BTreeMap<Role, Arc<Hidden>>,
}

impl From<BTreeMap<Role, Hidden>> for Redaction {
    fn from(redact: BTreeMap<Role, Hidden>) -> Self {
        Self { redact: redact.into_iter().map(|(role, hidden)| (role, Arc::new(hidden))).collect() }
    }
}

impl Redaction {
    /// This is hidden from those who have the role.
    #[must_use]
    pub fn with(mut self, role: Role, hidden: Hidden) -> Self {
        self.redact.insert(role, Arc::new(hidden));
        self
    }
}

impl Policy for Redaction {
    fn sight(&self, who: &Who, _: &RuntimeId) -> Sight {
        match self.redact.get(&who.role.unwrap_or(Role::Viewer)) {
            Some(hidden) if !hidden.is_nothing() => Sight::Through(hidden.clone()),
            _ => Sight::Whole,
        }
    }
}
