//! Chooses the agent of a new session if the user names none.

use client::Client;
use protocol::{
    AgentName,
    agents::{Agent, AgentSource},
};

use crate::exit::CommandError;

/// The one agent that can be used at once. With none or several, the error tells the user how to choose.
pub(super) async fn find(client: &Client) -> Result<AgentName, CommandError> {
    let agents = client.agents().list().await?.read()?.items;
    choose(&agents).map_err(CommandError::Usage)
}

fn choose(agents: &[Agent]) -> Result<AgentName, String> {
    let names = |wanted: &dyn Fn(&Agent) -> bool| -> Vec<&AgentName> {
        agents.iter().filter(|agent| wanted(agent)).map(|agent| &agent.id).collect()
    };
    let joined = |names: &[&AgentName]| names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    match names(&is_usable).as_slice() {
        [only] => Ok((*only).clone()),
        [first, ..] => {
            let usable = joined(&names(&is_usable));
            Err(format!("several agents can be used ({usable}): choose one, such as --agent {first}"))
        }
        [] => {
            let installable = names(&|agent| agent.credentials_found && !agent.installable_from.is_empty());
            let hint = match installable.as_slice() {
                [] => {
                    "log in with an agent where the daemon runs, or set its API key, and pass --agent".into()
                }
                [first, ..] => format!(
                    "credentials were found for {}: pass --agent {first}, which installs it if it is missing",
                    joined(&installable)
                ),
            };
            Err(format!(
                "no agent is installed and has credentials: {hint}; \
                 --agent mock needs neither, and `tombolo api agents list` lists all agents"
            ))
        }
    }
}

/// Whether the agent is installed and can use a model. Tombolo does not know which credentials a user's own agent needs.
fn is_usable(agent: &Agent) -> bool {
    match agent.source {
        AgentSource::BuiltIn => false,
        AgentSource::User => agent.installed,
        AgentSource::Catalog | AgentSource::Registry => agent.installed && agent.credentials_found,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn agent(id: &str, source: &str, installed: bool, credentials: bool) -> Agent {
        let agent = json!({
            "id": id, "name": id, "description": null, "note": null, "installed": installed, "version": null,
            "path": null, "verified": null, "source": source, "installableFrom": ["npm"],
            "credentialsFound": credentials, "protocol": "acp", "capabilities": {}, "runningInstances": 0,
        });
        serde_json::from_value(agent).unwrap()
    }

    #[test]
    fn the_only_usable_agent_is_chosen() {
        let mock = agent("mock", "builtIn", true, false);
        let claude = agent("claude", "catalog", true, true);
        let codex = agent("codex", "catalog", true, false);
        let agents = [mock.clone(), claude.clone(), codex];
        assert_eq!(choose(&agents).unwrap().as_str(), "claude");
        let own = agent("own", "user", true, false);
        assert_eq!(choose(&[mock.clone(), own.clone()]).unwrap().as_str(), "own");
        let several = choose(&[claude, own]).unwrap_err();
        assert!(several.contains("(claude, own)") && several.contains("--agent claude"), "{several}");
        let missing = choose(&[mock.clone(), agent("codex", "catalog", false, true)]).unwrap_err();
        assert!(missing.contains("--agent codex, which installs it"), "{missing}");
        let none = choose(&[mock]).unwrap_err();
        assert!(none.contains("API key") && none.contains("--agent mock"), "{none}");
    }
}
