//! What an agent is made of, and what of it is on this machine.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    path::PathBuf,
};

use super::{Inner, Installer, look::Present, offer};
use agent_catalog::{ComponentName, Definition, Purpose, Release};

/// An agent as it is on this machine.
#[derive(Debug, Clone)]
pub struct Presence {
    /// The program that would be started; none if something is missing.
    pub program: Option<PathBuf>,
    /// The version of the agent itself, where that is known.
    pub version: Option<String>,
    /// Whether every component that we installed for it was verified; none if we installed nothing, or if something is
    /// missing.
    pub verified: Option<bool>,
    /// How it can be installed here, in the order in which that is tried.
    pub sources: Vec<String>,
}

impl Installer {
    /// An agent as it is on this machine.
    pub async fn presence(&self, agent: &Definition) -> Presence {
        let own = ComponentName::from(agent.id.clone());
        let found = self.inner.found(agent, None).await;
        let find = |name: &ComponentName| found.get(name).map(|one| one.found.clone());
        let plan = |purpose| agent.plan(purpose, &self.inner.config.search_path, &find);
        // An adapter that is missing takes nothing from sessions, nor the other way round.
        let launch = plan(agent.usual()).or_else(|_| plan(agent.for_sessions()));
        let installed = self.inner.store.current(&own).map(|stored| stored.manifest.version.to_string());
        // Over ACP an adapter may be started; what people look for is the agent itself.
        let own_program = self.inner.look(&own, None).await.map(|present| present.found.program);
        let program = launch.ok().map(|launch| own_program.unwrap_or(launch.program));
        Presence {
            // Agents share components, so some may be there of an agent that is not.
            verified: program.as_ref().and_then(|_| self.inner.verified(agent)),
            program,
            version: agent.version.clone().or(installed),
            sources: self.inner.sources(&own),
        }
    }
}

impl Installer {
    /// What tells the installed version of an agent, as sessions start it, from every other: its number, or a hash of how it is
    /// started and when its program was changed. Nothing if it is not installed.
    pub async fn installed_version(&self, agent: &Definition) -> Option<String> {
        let found = self.inner.found(agent, Some(agent.for_sessions())).await;
        let find = |name: &ComponentName| found.get(name).map(|one| one.found.clone());
        let launch = agent.plan(agent.for_sessions(), &self.inner.config.search_path, &find).ok()?;
        let own = ComponentName::from(agent.id.clone());
        let managed = found.get(&own).is_some_and(|present| present.managed);
        let stored = self.inner.store.current(&own).filter(|_| managed);
        let number = agent.version.clone().or_else(|| Some(stored?.manifest.version.to_string()));
        number.or_else(|| {
            let program = found.get(&own).map_or(&launch.program, |present| &present.found.program);
            let changed = program.metadata().and_then(|metadata| metadata.modified()).ok()?;
            let mut hasher = DefaultHasher::new();
            (program, changed, &launch.args, &launch.env).hash(&mut hasher);
            Some(format!("program {:016x}", hasher.finish()))
        })
    }
}

impl Inner {
    /// What an agent needs on disk, and how new.
    pub(super) fn needs(
        &self,
        agent: &Definition,
        purpose: Option<Purpose>,
    ) -> BTreeMap<ComponentName, Option<Release>> {
        let catalog = self.catalog.read().clone();
        let names = match purpose {
            Some(purpose) => agent.launch(purpose).map(|launch| launch.components()).unwrap_or_default(),
            None => agent.components(),
        };
        let mut needs: BTreeMap<_, _> = names.iter().map(|name| (name.clone(), None)).collect();
        for row in names.iter().filter_map(|name| catalog.component(name)) {
            for (name, min) in &row.requires {
                if let Some(known) = needs.get_mut(name) {
                    *known = (*known).max(Some(*min));
                }
            }
        }
        needs
    }

    /// What of an agent is there.
    pub(super) async fn found(
        &self,
        agent: &Definition,
        purpose: Option<Purpose>,
    ) -> BTreeMap<ComponentName, Present> {
        let mut found = BTreeMap::new();
        for (name, min) in self.needs(agent, purpose) {
            if let Some(present) = self.look(&name, min).await {
                found.insert(name, present);
            }
        }
        found
    }

    /// Whether every component of an agent that we installed was verified; none if we installed nothing.
    fn verified(&self, agent: &Definition) -> Option<bool> {
        let names = agent.components();
        let stored = names.iter().filter_map(|name| self.store.current(name));
        stored.map(|stored| stored.manifest.verified).reduce(|all, one| all && one)
    }

    /// Whether a component is only ever taken from the `PATH`.
    pub(super) fn is_given(&self, name: &ComponentName) -> bool {
        self.catalog.read().component(name).is_none_or(|row| row.sources.is_empty())
    }

    /// Whether an agent is made of components, so that it can be installed by us.
    pub(super) fn is_ours(&self, agent: &Definition) -> bool {
        !agent.components().is_empty()
    }

    fn sources(&self, name: &ComponentName) -> Vec<String> {
        let catalog = self.catalog.read().clone();
        let (Some(row), Ok(platform)) = (catalog.component(name), &self.platform) else { return Vec::new() };
        offer::offers(row, *platform, &self.config.mirrors).iter().map(offer::Offer::label).collect()
    }
}
