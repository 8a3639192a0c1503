//! Which agents exist: one row each. A user's definition may shadow a built-in one.

use std::{
    collections::{BTreeMap, btree_map},
    path::{Path, PathBuf},
};

use protocol::{
    AgentName,
    agents::{Mode, Model, Protocol, Source},
};

use crate::{Definition, Launch, SearchPath, UserAgent, mock};

/// Which agents exist.
#[derive(Debug)]
pub struct Catalog {
    agents: BTreeMap<AgentName, Definition>,
    path: SearchPath,
}

impl Catalog {
    /// The built-in agents and those of the user. `own_program` is the program that holds the mock agent.
    pub fn new(own_program: &Path, path: SearchPath, user: BTreeMap<AgentName, UserAgent>) -> Self {
        let built_in = mock_row(own_program);
        let user = user.into_iter().map(|(id, agent)| user_row(id, agent));
        let agents = built_in.into_iter().chain(user).map(|row| (row.id.clone(), row)).collect();
        Self { agents, path }
    }

    /// The agent of that name.
    pub fn get(&self, name: &AgentName) -> Option<&Definition> {
        self.agents.get(name)
    }

    /// Every agent, by name.
    pub fn iter(&self) -> btree_map::Values<'_, AgentName, Definition> {
        self.agents.values()
    }

    /// Where programs are looked up.
    pub fn path(&self) -> &SearchPath {
        &self.path
    }
}

fn mock_row(own_program: &Path) -> Option<Definition> {
    let mode = |id: &str, name: &str, description: &str| Mode {
        id: id.into(),
        name: name.into(),
        description: description.into(),
    };
    Some(Definition {
        id: "mock".parse().ok()?,
        name: "Mock agent".into(),
        source: Source::BuiltIn,
        protocol: Protocol::Acp,
        launch: Launch {
            program: own_program.to_path_buf(),
            args: vec![mock::ARGUMENT.into()],
            env: BTreeMap::new(),
        },
        version: Some(env!("CARGO_PKG_VERSION").into()),
        modes: vec![
            mode("build", "Build", "Does what the script in the prompt says."),
            mode("plan", "Plan", "The same, under another name."),
        ],
        models: vec![Model { id: "mock".into(), name: "No model".into(), variants: Vec::new() }],
    })
}

fn user_row(id: AgentName, agent: UserAgent) -> Definition {
    let mut command = agent.command.into_iter();
    let program = PathBuf::from(command.next().unwrap_or_default());
    Definition {
        name: agent.name.unwrap_or_else(|| id.to_string()),
        id,
        source: Source::User,
        protocol: agent.protocol,
        launch: Launch { program, args: command.chain(agent.args).collect(), env: agent.env },
        version: None,
        modes: Vec::new(),
        models: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// daemon #8: agents that a user defines, which may shadow a built-in one.
    #[test]
    fn a_users_definition_shadows_the_built_in_one() {
        let user: BTreeMap<AgentName, UserAgent> =
            toml::from_str("[mock]\ncommand = [\"/bin/cat\", \"-u\"]\nargs = [\"-\"]\nenv = { A = \"b\" }\n")
                .unwrap();
        let catalog = Catalog::new(Path::new("/own"), SearchPath::default(), user);
        let mock = catalog.get(&"mock".parse().unwrap()).unwrap();
        assert_eq!(mock.source, Source::User);
        let plan = mock.plan(catalog.path()).unwrap();
        assert_eq!((plan.program, plan.args), ("/bin/cat".into(), vec!["-u".to_owned(), "-".to_owned()]));
        assert_eq!(plan.env["A"], "b");
    }

    #[test]
    fn an_agent_whose_program_is_missing_says_so() {
        let catalog = Catalog::new(Path::new("/no/such/program"), SearchPath::default(), BTreeMap::new());
        let mock = catalog.get(&"mock".parse().unwrap()).unwrap();
        let error = mock.plan(catalog.path()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "agent `mock` is not installed: there is no program `/no/such/program`"
        );
    }
}
