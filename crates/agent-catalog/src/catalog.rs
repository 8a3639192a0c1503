//! Which agents exist: one row each. A user's definition may shadow a built-in one.

use std::{
    collections::{BTreeMap, btree_map},
    path::Path,
    sync::Arc,
};

use protocol::{
    AgentName,
    agents::{AgentMode, AgentModel, AgentProtocol, AgentSource},
};

use crate::{
    Component, ComponentName, Definition, Table, Template, UserAgent,
    definition::acp_alone,
    registry::{self, Registry},
    table::{Credentials, LaunchRow},
};

/// The table that is part of this program.
const TABLE: &str = include_str!("../catalog.toml");

/// The ACP registry as it was when this program was made.
const REGISTRY: &str = include_str!("../registry.json");

/// Which agents exist.
#[derive(Debug, Clone)]
pub struct Catalog {
    agents: BTreeMap<AgentName, Arc<Definition>>,
    /// What our own table knows to install.
    components: BTreeMap<ComponentName, Arc<Component>>,
    /// What the ACP registry adds; it never takes the place of a component of ours.
    registered: BTreeMap<ComponentName, Arc<Component>>,
}

/// A table that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum InvalidCatalog {
    /// The table of agents.
    #[error("the agent catalog is invalid: {0}")]
    Table(String),
    /// The ACP registry.
    #[error("the ACP registry is invalid: {0}")]
    Registry(String),
}

impl Catalog {
    /// The built-in agents and those of the user. `own_program` is the program that holds the mock agent.
    pub fn new(own_program: &Path, user: BTreeMap<AgentName, UserAgent>) -> Result<Self, InvalidCatalog> {
        let table = Table::built_in()?;
        Self::build(own_program, table, &Registry::parse(REGISTRY)?, user)
    }

    /// The same with another ACP registry.
    pub fn with_registry(&self, registry: &Registry) -> Self {
        let kept = self.agents.iter().filter(|(_, agent)| agent.source != AgentSource::Registry);
        let mut catalog = Self {
            agents: kept.map(|(name, agent)| (name.clone(), agent.clone())).collect(),
            components: self.components.clone(),
            registered: BTreeMap::new(),
        };
        catalog.take(registry);
        catalog
    }

    fn build(
        own_program: &Path,
        table: Table,
        registry: &Registry,
        user: BTreeMap<AgentName, UserAgent>,
    ) -> Result<Self, InvalidCatalog> {
        let components = table.components.into_iter().map(|(name, row)| (name, Arc::new(row))).collect();
        let rows =
            table.agents.into_iter().map(|(id, row)| Definition::of_row(id, row, AgentSource::Catalog));
        let user = user.into_iter().map(|(id, agent)| Definition::of_user(id, agent));
        let agents = mock_row(own_program).into_iter().chain(rows).chain(user);
        let agents = agents.map(|agent| (agent.id.clone(), Arc::new(agent))).collect();
        let mut catalog = Self { agents, components, registered: BTreeMap::new() };
        catalog.take(registry);
        Ok(catalog)
    }

    /// Takes the rows of a registry whose names are free.
    fn take(&mut self, registry: &Registry) {
        for entry in &registry.agents {
            let Some((id, component, row)) = registry::row(entry) else { continue };
            let own = ComponentName::from(id.clone());
            if self.agents.contains_key(&id) || self.components.contains_key(&own) {
                continue;
            }
            self.registered.insert(own, Arc::new(component));
            self.agents.insert(id.clone(), Arc::new(Definition::of_row(id, row, AgentSource::Registry)));
        }
    }

    /// The agent of that name.
    pub fn get(&self, name: &AgentName) -> Option<&Arc<Definition>> {
        self.agents.get(name)
    }

    /// How what an agent needs to speak ACP comes to a machine, for people.
    pub fn means(&self, agent: &Definition) -> String {
        let components = agent.acp.iter().flat_map(LaunchRow::components);
        let means = components.filter_map(|name| {
            let kinds = Vec::from_iter(self.component(&name)?.sources.iter().map(crate::Source::kind));
            (!kinds.is_empty()).then(|| format!("{name}: {}", kinds.join(" or ")))
        });
        Vec::from_iter(means).join("; ")
    }

    /// Every agent, by name.
    pub fn iter(&self) -> btree_map::Values<'_, AgentName, Arc<Definition>> {
        self.agents.values()
    }

    /// The component of that name.
    pub fn component(&self, name: &ComponentName) -> Option<&Arc<Component>> {
        self.components.get(name).or_else(|| self.registered.get(name))
    }
}

impl Table {
    /// The table that is part of this program.
    pub fn built_in() -> Result<Self, InvalidCatalog> {
        toml::from_str(TABLE).map_err(|error| InvalidCatalog::Table(error.to_string()))
    }
}

fn mock_row(own_program: &Path) -> Option<Definition> {
    let mode = |id: &str, name: &str, description: &str| AgentMode {
        id: id.into(),
        name: name.into(),
        description: description.into(),
    };
    Some(Definition {
        id: "mock".parse().ok()?,
        name: "Mock agent".into(),
        description: Some("Follows the script in the prompt; needs no model".into()),
        note: None,
        source: AgentSource::BuiltIn,
        protocol: AgentProtocol::Acp,
        acp: Some(LaunchRow {
            program: Template::literal(own_program.to_string_lossy()),
            args: vec![Template::literal(mock_agent::ARGUMENT)],
            env: BTreeMap::new(),
            path: Vec::new(),
            flags: Vec::new(),
        }),
        native: None,
        version: Some(env!("CARGO_PKG_VERSION").into()),
        credentials: Credentials::default(),
        login_status: None,
        skills: None,
        capabilities: protocol::agents::AgentCapabilities {
            permissions: Some(true),
            questions: Some(true),
            plans: Some(true),
            steering: Some(true),
            resume: Some(true),
            fork: Some(false),
            mcp: Some(true),
            ..acp_alone(true)
        },
        modes: vec![
            mode("build", "Build", "Follows the script in the prompt."),
            mode("plan", "Plan", "Same as build."),
        ],
        models: vec![AgentModel { id: "mock".into(), name: "No model".into(), variants: Vec::new() }],
    })
}

#[cfg(test)]
mod tests;
