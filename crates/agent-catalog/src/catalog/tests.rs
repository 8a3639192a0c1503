use std::collections::BTreeSet;

use super::*;
use crate::{Platform, Purpose, SearchPath};

fn catalog(user: &str) -> Catalog {
    Catalog::new(Path::new("/no/such/program"), toml::from_str(user).unwrap()).unwrap()
}

fn agent(catalog: &Catalog, name: &str) -> Arc<Definition> {
    catalog.get(&name.parse().unwrap()).unwrap().clone()
}

/// daemon-8: agents that a user defines, which may shadow a built-in one.
#[test]
fn a_users_definition_shadows_the_built_in_one() {
    let text = "[mock]\ncommand = [\"/bin/cat\", \"-u\"]\nargs = [\"-\"]\nenv = { A = \"{b}\" }\n[claude]\ncommand = [\"x\"]\n";
    let catalog = catalog(text);
    let mock = agent(&catalog, "mock");
    assert_eq!(mock.source, AgentSource::User);
    let plan = mock.plan(Purpose::Acp, &SearchPath::default(), &|_| None).unwrap();
    assert_eq!((plan.program, plan.args), ("/bin/cat".into(), vec!["-u".to_owned(), "-".to_owned()]));
    assert_eq!(plan.env["A"], "{b}", "what a user says stands for itself");
    assert_eq!(agent(&catalog, "claude").source, AgentSource::User);
}

/// daemon-8: a user's agent may speak another protocol than ACP.
#[test]
fn an_agent_that_speaks_no_acp_says_so() {
    for protocol in ["claude", "codex", "opencode"] {
        let catalog = catalog(&format!("[mine]\ncommand = [\"/bin/cat\"]\nprotocol = \"{protocol}\"\n"));
        let mine = agent(&catalog, "mine");
        assert!(!mine.capabilities.acp && mine.launch(Purpose::Native).is_some());
        let error = mine.plan(Purpose::Acp, &SearchPath::default(), &|_| None).unwrap_err();
        assert!(error.to_string().contains("does not speak ACP"), "{error}");
    }
}

#[test]
fn an_agent_whose_program_is_missing_says_so() {
    let mock = agent(&catalog(""), "mock");
    let error = mock.plan(Purpose::Acp, &SearchPath::default(), &|_| None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "agent `mock` is not installed: the program `/no/such/program` was not found; install it with `tombolo agents \
         install mock`, or put it on PATH"
    );
}

/// daemon-5, daemon-8: every agent of the tables can be started with components that the tables have.
#[test]
fn every_row_names_components_that_exist() {
    let catalog = catalog("");
    let names: BTreeSet<_> = catalog.iter().map(|agent| agent.id.as_str()).collect();
    for name in ["claude", "codex", "opencode", "amp", "gemini", "pi", "mock", "cursor", "goose"] {
        assert!(names.contains(name), "{name} is not among {names:?}");
    }
    for agent in catalog.iter().filter(|agent| agent.source != AgentSource::BuiltIn) {
        assert!(
            catalog.component(&agent.id.clone().into()).is_some(),
            "{} has no component of its own",
            agent.id
        );
        for name in agent.components() {
            let row = catalog.component(&name).unwrap_or_else(|| panic!("{} needs {name}", agent.id));
            assert!(row.on_path.is_some() || !row.sources.is_empty(), "{name} comes from nowhere");
            for need in row.requires.keys() {
                assert!(catalog.component(need).is_some(), "{name} requires {need}");
            }
        }
    }
}

/// A capability that is misspelt would be one that the agent lacks.
#[test]
fn every_row_names_capabilities_that_exist() {
    let table: toml::Table = include_str!("../../catalog.toml").parse().unwrap();
    let known = serde_json::to_value(protocol::agents::AgentCapabilities::default()).unwrap();
    let rows = table["agents"].as_table().unwrap().values().filter_map(|row| row.get("capabilities"));
    let named: Vec<_> = rows.flat_map(|row| row.as_table().unwrap().keys()).collect();
    assert!(!named.is_empty());
    for name in named {
        assert!(name != "acp" && known.get(name).is_some(), "{name}");
    }
}

/// daemon-8: the registry's own format; what it adds never takes the place of what is there.
#[test]
fn a_registry_adds_agents_and_replaces_none_of_ours() {
    let platform = Platform::here().unwrap().in_registry();
    let text = serde_json::json!({ "version": "1.0.0", "extensions": [], "agents": [
        { "id": "claude", "name": "Not ours", "version": "1", "distribution": { "npx": { "package": "evil@1" } } },
        { "id": "npm", "name": "Nor this", "version": "1", "distribution": { "npx": { "package": "evil@1" } } },
        { "id": "../x", "name": "No name", "version": "1", "distribution": { "npx": { "package": "x@1" } } },
        { "id": "windows", "name": "W", "version": "1", "distribution": { "binary": { "windows-x86_64": { "archive": "a", "cmd": "b" } } } },
        { "id": "bin", "name": "Bin", "version": "1.2", "distribution": { "binary": { platform: {
            "archive": "https://a.example/b.tar.gz", "cmd": "./b/c", "args": ["acp"], "env": { "A": "{b}" }, "sha256": "00" } } } },
        { "id": "np", "name": "Np", "version": "1.2", "distribution": { "npx": { "package": "@s/np@1.2", "args": ["--acp"] } } },
        { "id": "py", "name": "Py", "version": "1.2", "distribution": { "uvx": { "package": "py-acp==1.2" } } },
    ] });
    let catalog = catalog("").with_registry(&Registry::parse(&text.to_string()).unwrap());
    assert_eq!(agent(&catalog, "claude").source, AgentSource::Catalog);
    assert!(
        catalog.get(&"npm".parse().unwrap()).is_none() && catalog.get(&"windows".parse().unwrap()).is_none()
    );
    assert!(
        catalog.get(&"goose".parse().unwrap()).is_none(),
        "another registry takes the place of the old one"
    );
    let find = |name: &ComponentName| {
        Some(crate::Found { program: "/bin/sh".into(), tree: format!("/t/{name}").into() })
    };
    let plan = |name| agent(&catalog, name).plan(Purpose::Acp, &SearchPath::new("/bin"), &find).unwrap();
    assert_eq!((plan("bin").args, plan("bin").env["A"].as_str()), (vec!["acp".to_owned()], "{b}"));
    assert_eq!(plan("np").args, ["/bin/sh", "--acp"]);
    assert_eq!(plan("py").env["PYTHONPATH"], "/t/py");
}
