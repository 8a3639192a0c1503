//! Who may do what, by role.

use protocol::hub::Role;

use super::{Policy, Verdict, What, Who};

/// Whoever has the role that something needs, in the workspace of the runtime, may do it. What they see is left alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct Roles;

impl Policy for Roles {
    fn may(&self, who: &Who, what: &What<'_>) -> Verdict {
        let (verb, needs) = match what {
            What::Watch { .. } => ("workers.watch", Role::Viewer),
            What::Command { verb, needs, .. } => (*verb, *needs),
        };
        match who.role.is_some_and(|role| role >= needs) {
            true => Verdict::Allowed,
            false => Verdict::Denied(format!(
                "`{verb}` needs the role `{needs}` in the workspace `{}`",
                who.workspace
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
            let who = Who { user: "ada".parse().unwrap(), workspace: "lab".parse().unwrap(), role };
            for needs in Role::ALL {
                let what = What::Command { runtime: &runtime, worker: None, verb: "x", needs };
                assert_eq!(
                    Roles.may(&who, &what) == Verdict::Allowed,
                    role >= Some(needs),
                    "{role:?} {needs}"
                );
            }
            let watch = What::Watch { runtime: &runtime, worker: &worker };
            assert_eq!(Roles.may(&who, &watch) == Verdict::Allowed, role.is_some(), "{role:?}");
        }
    }
}
