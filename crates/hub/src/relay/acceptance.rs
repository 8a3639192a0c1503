//! What of a device may be used: what it offers, as far as it is granted. Nothing here waits.

use std::collections::BTreeSet;

use protocol::relay::{
    ApprovalPolicy, CommandNetwork, DeviceOffer, Family, Grant, RequestLimits, Root, RootId, ShellGrant,
};

/// What the `runtime` of a shell begins with that has a sandbox.
const SANDBOXED: &str = "sandboxed";

/// What may be used of a device. Nothing else is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Allowed {
    pub(crate) families: BTreeSet<Family>,
    pub(crate) roots: Vec<Root>,
    pub(crate) shell: Option<ShellGrant>,
}

impl Allowed {
    /// What grants allow together, the oldest first: of a root the most, of commands what the newest says.
    pub(crate) fn by<'a>(grants: impl IntoIterator<Item = &'a Grant>) -> Self {
        let mut allowed = Self::default();
        let capabilities = grants.into_iter().flat_map(|grant| &grant.capabilities);
        for granted in capabilities.filter(|granted| granted.enabled) {
            allowed.families.insert(granted.capability);
            match granted.capability {
                Family::Fileops => {
                    granted.roots.iter().flatten().for_each(|root| allowed.add(root.clone()));
                }
                Family::Shell => {
                    allowed.shell = Some(granted.shell.clone().unwrap_or_else(unsaid));
                }
                _ => {}
            }
        }
        allowed
    }

    /// What any of several grants allows, each for itself: commands without a sandbox if one says that they will do. Who uses the
    /// device looks at its own.
    pub(crate) fn by_any<'a>(grants: impl IntoIterator<Item = &'a Grant>) -> Self {
        let grants: Vec<&Grant> = grants.into_iter().collect();
        let mut allowed = Self::by(grants.iter().copied());
        if let Some(shell) = &mut allowed.shell {
            let each = grants.iter().map(|grant| Self::by([*grant]));
            shell.unsandboxed = each.filter_map(|one| one.shell).any(|shell| shell.unsandboxed);
        }
        allowed
    }

    fn add(&mut self, root: Root) {
        match self.roots.iter_mut().find(|known| is_same(known, &root)) {
            Some(known) => known.mode = known.mode.max(root.mode),
            None => self.roots.push(root),
        }
    }

    /// What of an offer is accepted; `shell` is what its commands run in.
    pub(crate) fn of(&self, offer: &DeviceOffer, shell: Option<&str>) -> Self {
        let offered =
            Self { families: offer.families.clone(), roots: offer.roots.clone(), shell: self.shell.clone() };
        let mut accepted = self.and(&offered).in_sandbox(shell);
        // What commands may do is told with each request: a device is accepted for commands, or not.
        accepted.shell = accepted.shell.map(|_| unsaid());
        accepted
    }

    /// The same without commands, if they need a sandbox and run in something else.
    pub(crate) fn in_sandbox(mut self, shell: Option<&str>) -> Self {
        let is_sandboxed = shell.is_some_and(|runtime| runtime.starts_with(SANDBOXED));
        if !is_sandboxed && self.shell.as_ref().is_some_and(|shell| !shell.unsandboxed) {
            self.families.remove(&Family::Shell);
            self.shell = None;
        }
        self
    }

    /// What both allow: of a root the stricter mode. What commands may do is as here.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let families: BTreeSet<_> = self.families.intersection(&other.families).copied().collect();
        let both = |root: &Root| {
            let same = other.roots.iter().find(|known| is_same(known, root))?;
            Some(Root { mode: root.mode.min(same.mode), label: None, ..root.clone() })
        };
        let roots = match families.contains(&Family::Fileops) {
            true => self.roots.iter().filter_map(both).collect(),
            false => Vec::new(),
        };
        let shell = self.shell.clone().filter(|_| families.contains(&Family::Shell) && other.shell.is_some());
        Self { families, roots, shell }
    }

    /// Only these families and directories, where something is said of them.
    pub(crate) fn only(mut self, families: Option<&[Family]>, roots: Option<&[RootId]>) -> Self {
        self.families.retain(|family| families.is_none_or(|only| only.contains(family)));
        self.roots.retain(|root| roots.is_none_or(|only| only.contains(&root.root_id)));
        if !self.families.contains(&Family::Fileops) {
            self.roots.clear();
        }
        self.shell = self.shell.filter(|_| self.families.contains(&Family::Shell));
        self
    }

    /// Whether the other allows all of this too.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        let root = |root: &Root| other.roots.iter().any(|it| is_same(it, root) && it.mode >= root.mode);
        self.families.is_subset(&other.families)
            && self.roots.iter().all(root)
            && (self.shell.is_none() || self.shell == other.shell)
    }

    /// The directory of that name.
    pub(crate) fn root(&self, id: &RootId) -> Option<&Root> {
        self.roots.iter().find(|root| root.root_id == *id)
    }

    /// What a device is told that a request may touch.
    pub(crate) fn terms(&self) -> RequestLimits {
        RequestLimits { roots: self.roots.clone(), shell: self.shell.clone() }
    }
}

/// A root is the same if both its names are.
fn is_same(one: &Root, other: &Root) -> bool {
    one.root_id == other.root_id && one.virtual_path == other.virtual_path
}

/// What commands may do under a grant that does not say: somebody is asked each time.
fn unsaid() -> ShellGrant {
    ShellGrant {
        cwd: None,
        env: Vec::new(),
        network: CommandNetwork::None,
        approval_policy: ApprovalPolicy::AlwaysAsk,
        runtime_max_ms: None,
        output_limit_bytes: None,
        unsandboxed: false,
    }
}

#[cfg(test)]
mod tests;
