//! The choices that controllers have when creating a session.
//!
//! An agent's environment, its MCP servers and its directory decide which code runs on the runtime. Choosing them freely is
//! for owners; a rule in the policy file opens some of them to the controllers of a workspace.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Component, Path, PathBuf},
};

use protocol::{WorkspaceName, config::McpServer};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The members of a request that choose no code: they are open to every controller.
const OPEN: [&str; 7] = ["agent", "environment", "model", "title", "token", "validateToken", "variant"];

/// Agent modes that are open to every controller. Others may approve for the user: agents call such a mode `auto`, `yolo` or
/// `bypassPermissions`.
const OPEN_AGENT_MODES: [&str; 3] = ["build", "default", "plan"];

/// The rules of all workspaces: `{"controllers": {"lab": {"directories": ["/srv/lab"], "env": ["LANG"]}}}`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct SessionRules(BTreeMap<WorkspaceName, ControllerRule>);

/// The choices of the controllers of one workspace.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControllerRule {
    /// Agent modes besides those that every controller may choose.
    #[serde(default)]
    agent_modes: BTreeSet<String>,
    /// Directories that sessions may work in or below.
    #[serde(default)]
    directories: Vec<PathBuf>,
    /// Names of environment variables.
    #[serde(default)]
    env: BTreeSet<String>,
    /// MCP servers, which a request refers to by name with an empty object.
    #[serde(default)]
    mcp: BTreeMap<String, McpServer>,
}

/// A member of a request that only an owner may choose.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` needs the role `owner`, or a rule for this workspace under `controllers` in the policy file of the hub"
)]
pub struct OwnerOnly(String);

impl SessionRules {
    /// The directories that the controllers of each workspace may work in.
    pub(super) fn roots(&self) -> impl Iterator<Item = (&WorkspaceName, &[PathBuf])> {
        self.0.iter().map(|(workspace, rule)| (workspace, rule.directories.as_slice()))
    }

    /// Checks what a controller of `workspace` chooses in a request to create a session, and puts in the MCP servers that it
    /// refers to by name.
    ///
    /// # Errors
    /// If something is for owners only.
    pub fn check(
        &self,
        workspace: &WorkspaceName,
        request: &mut Map<String, Value>,
    ) -> Result<(), OwnerOnly> {
        let none = ControllerRule::default();
        let rule = self.0.get(workspace).unwrap_or(&none);
        for (name, value) in request {
            match name.as_str() {
                open if OPEN.contains(&open) => {}
                _ if is_empty(value) => {}
                "agentMode" if value.as_str().is_some_and(|mode| rule.allows_agent_mode(mode)) => {}
                "permissionMode" if value == "default" || value == "plan" => {}
                "directory" if value.as_str().is_some_and(|directory| rule.allows_directory(directory)) => {}
                "env" => rule.check_env(value)?,
                "mcp" => rule.fill_in_mcp(value)?,
                other => return Err(OwnerOnly(other.to_owned())),
            }
        }
        Ok(())
    }
}

impl ControllerRule {
    fn allows_agent_mode(&self, mode: &str) -> bool {
        OPEN_AGENT_MODES.contains(&mode) || self.agent_modes.contains(mode)
    }

    fn allows_directory(&self, directory: &str) -> bool {
        let path = Path::new(directory);
        let is_plain =
            path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        is_plain && path.is_absolute() && self.directories.iter().any(|root| path.starts_with(root))
    }

    fn check_env(&self, value: &Value) -> Result<(), OwnerOnly> {
        let Value::Object(variables) = value else { return Err(OwnerOnly("env".into())) };
        match variables.keys().find(|name| !self.env.contains(*name)) {
            Some(name) => Err(OwnerOnly(format!("env.{name}"))),
            None => Ok(()),
        }
    }

    fn fill_in_mcp(&self, value: &mut Value) -> Result<(), OwnerOnly> {
        let Value::Object(servers) = value else { return Err(OwnerOnly("mcp".into())) };
        for (name, server) in servers {
            let owner_only = || OwnerOnly(format!("mcp.{name}"));
            let definition = self.mcp.get(name).ok_or_else(owner_only)?;
            let definition = serde_json::to_value(definition).map_err(|_| owner_only())?;
            if !is_empty(server) && *server != definition {
                return Err(owner_only());
            }
            *server = definition;
        }
        Ok(())
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(rules: Value, request: Value) -> Result<Value, String> {
        let rules: SessionRules = serde_json::from_value(rules).unwrap();
        let Value::Object(mut request) = request else { panic!("not an object") };
        let checked = rules.check(&"lab".parse().unwrap(), &mut request);
        checked.map(|()| Value::Object(request)).map_err(|OwnerOnly(name)| name)
    }

    #[test]
    fn a_controller_chooses_nothing_that_decides_which_code_runs() {
        let harmless = json!({
            "agent": "mock", "agentMode": "plan", "permissionMode": "plan", "model": "m", "title": "t", "env": {},
            "directory": null,
        });
        assert_eq!(check(json!({}), harmless.clone()).unwrap(), harmless);
        for (request, name) in [
            (json!({ "env": { "NODE_OPTIONS": "--import=x" } }), "env.NODE_OPTIONS"),
            (json!({ "env": ["NODE_OPTIONS"] }), "env"),
            (json!({ "mcp": { "x": { "type": "local", "command": "sh" } } }), "mcp.x"),
            (json!({ "mcp": "x" }), "mcp"),
            (json!({ "directory": "/" }), "directory"),
            (json!({ "permissionMode": "bypass" }), "permissionMode"),
            (json!({ "agentMode": "bypassPermissions" }), "agentMode"),
            (json!({ "agentMode": ["build"] }), "agentMode"),
            (json!({ "skills": { "x": {} } }), "skills"),
            (json!({ "agentVersion": "1" }), "agentVersion"),
            (json!({ "inventedLater": true }), "inventedLater"),
        ] {
            assert_eq!(check(json!({}), request).unwrap_err(), name);
        }
    }

    #[test]
    fn a_rule_opens_what_it_names_in_its_workspace_only() {
        let docs = json!({ "type": "remote", "url": "https://docs.example/mcp" });
        let rule = json!({
            "agentModes": ["auto"], "directories": ["/srv/lab"], "env": ["LANG"], "mcp": { "docs": docs },
        });
        let rules = json!({ "lab": rule });
        let request = json!({
            "agentMode": "auto", "directory": "/srv/lab/a", "env": { "LANG": "C" }, "mcp": { "docs": {} },
        });
        assert_eq!(check(rules.clone(), request.clone()).unwrap()["mcp"]["docs"], docs);
        assert!(check(json!({ "other": rule }), request).is_err());
        for (request, name) in [
            (json!({ "agentMode": "yolo" }), "agentMode"),
            (json!({ "directory": "/srv/labour" }), "directory"),
            (json!({ "directory": "/srv/lab/../../etc" }), "directory"),
            (json!({ "directory": "srv/lab" }), "directory"),
            (json!({ "env": { "LANG": "C", "PATH": "/tmp" } }), "env.PATH"),
            (json!({ "mcp": { "docs": { "type": "remote", "url": "https://evil.example" } } }), "mcp.docs"),
        ] {
            assert_eq!(check(rules.clone(), request).unwrap_err(), name);
        }
    }
}
