//! Which roles see where a runtime keeps its files.

use std::{collections::BTreeMap, sync::Arc};

use protocol::{RuntimeId, WorkspaceName, hub::Role};

use super::{
    Policy, PolicySubject, RedactionPolicy, SessionRules, Visibility,
    relative_directories::RelativeDirectories,
};

/// Shows the directories of sessions relative to a workspace root, unless the role may see absolute paths.
///
/// The roots of a workspace are the directories that its controllers may work in.
#[derive(Debug, Default)]
pub(super) struct DirectoryPolicy {
    absolute: BTreeMap<Role, bool>,
    of_workspaces: BTreeMap<WorkspaceName, Arc<RelativeDirectories>>,
    /// For workspaces without roots.
    of_others: Arc<RelativeDirectories>,
}

impl DirectoryPolicy {
    /// The rules of a policy file.
    pub(super) fn new(redaction: &RedactionPolicy, sessions: &SessionRules) -> Self {
        let absolute = Role::ALL.map(|role| (role, !redaction.hides_directories(role)));
        let of_workspaces = sessions
            .roots()
            .map(|(workspace, roots)| (workspace.clone(), Arc::new(RelativeDirectories::new(roots))));
        Self {
            absolute: absolute.into_iter().collect(),
            of_workspaces: of_workspaces.collect(),
            of_others: Arc::default(),
        }
    }
}

impl Policy for DirectoryPolicy {
    fn visibility(&self, subject: &PolicySubject, _: &RuntimeId) -> Visibility {
        let role = subject.role.unwrap_or(Role::Viewer);
        if self.absolute.get(&role).is_some_and(|absolute| *absolute) {
            return Visibility::Full;
        }
        let redactor = self.of_workspaces.get(&subject.workspace).unwrap_or(&self.of_others);
        Visibility::Redacted(Arc::clone(redactor) as _)
    }
}
