//! Actions by role.

use protocol::hub::Role;

use super::{Decision, Policy, PolicySubject, RequestedAction};

/// Allows an action to users with the required role in the workspace of the runtime. It hides nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct RolePolicy;

impl Policy for RolePolicy {
    fn may(&self, subject: &PolicySubject, requested: &RequestedAction<'_>) -> Decision {
        let (action, needs) = match requested {
            RequestedAction::Watch { .. } => ("workers.watch", Role::Viewer),
            RequestedAction::Command { action, needs, .. } => (*action, *needs),
        };
        match subject.role.is_some_and(|role| role >= needs) {
            true => Decision::Allowed,
            false => Decision::Denied(format!(
                "`{action}` needs the role `{needs}` in the workspace `{}`",
                subject.workspace
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each role may do what it is meant for and what a lesser one may; who has none may do nothing.
    #[test]
    fn a_role_is_enough_for_itself_and_for_less() {
        let (runtime, worker) = ("box".parse().unwrap(), "s".parse().unwrap());
        for role in [None].into_iter().chain(Role::ALL.map(Some)) {
            let who = PolicySubject { user: "ada".parse().unwrap(), workspace: "lab".parse().unwrap(), role };
            for needs in Role::ALL {
                let what = RequestedAction::Command { runtime: &runtime, worker: None, action: "x", needs };
                assert_eq!(
                    RolePolicy.may(&who, &what) == Decision::Allowed,
                    role >= Some(needs),
                    "{role:?} {needs}"
                );
            }
            let watch = RequestedAction::Watch { runtime: &runtime, worker: &worker };
            assert_eq!(RolePolicy.may(&who, &watch) == Decision::Allowed, role.is_some(), "{role:?}");
        }
    }
}
