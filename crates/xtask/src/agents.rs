//! Writes the table of ACP agents in `docs/agents.md` from the test results in `docs/agents.json`.

use std::collections::BTreeMap;

use anyhow::Context;
use serde::Deserialize;

use crate::generated_section::{GeneratedSection, table_row};

const SECTION: GeneratedSection = GeneratedSection {
    start: "<!-- agents: written by `cargo xtask codegen` -->\n",
    end: "<!-- /agents -->\n",
};

/// The columns: a heading, and the test of the suite whose result fills it.
const COLUMNS: &[(&str, &str)] = &[
    ("output", "text"),
    ("permissions", "permission_allowed"),
    ("after a denial", "permission_denied"),
    ("cancel", "cancel"),
    ("load", "load"),
    ("resume", "resume"),
    ("mode", "mode"),
    ("model", "model"),
    ("model error", "model_error"),
    ("no process left", "nothing_left"),
];

/// The test results of one agent.
#[derive(Deserialize)]
struct AgentFeatures {
    program: AgentProgram,
    features: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct AgentProgram {
    name: String,
    version: String,
}

/// Where each agent is installed from, by the catalog.
pub(crate) type InstallMethods = BTreeMap<String, String>;

/// Returns `document` with its table replaced by one made from `agents`.
pub(crate) fn replace_table(
    document: &str,
    agents: &str,
    installed: &InstallMethods,
) -> anyhow::Result<String> {
    let agents: BTreeMap<String, AgentFeatures> = serde_json::from_str(agents).context("docs/agents.json")?;
    SECTION.replace(document, &table(&agents, installed)?)
}

fn table(agents: &BTreeMap<String, AgentFeatures>, installed: &InstallMethods) -> anyhow::Result<String> {
    let mut heads = vec!["agent", "tested with", "installed from"];
    heads.extend(COLUMNS.iter().map(|(head, _)| *head));
    let mut lines = vec![table_row(&heads), table_row(&vec!["---"; heads.len()])];
    for (name, agent) in agents {
        let shown = format!("{} {}", agent.program.name, agent.program.version);
        let mut cells = vec![name.as_str(), &shown];
        cells.push(installed.get(name).with_context(|| format!("the catalog has no agent `{name}`"))?);
        for (_, feature) in COLUMNS {
            let words = agent.features.get(*feature);
            cells.push(words.with_context(|| format!("docs/agents.json: {name} has no `{feature}`"))?);
        }
        lines.push(table_row(&cells));
    }
    Ok(lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents() -> String {
        let features: BTreeMap<_, _> = COLUMNS.iter().map(|(_, feature)| (feature, "yes")).collect();
        serde_json::json!({ "x": { "program": { "name": "x-acp", "version": "1" }, "features": features } })
            .to_string()
    }

    fn installed() -> InstallMethods {
        InstallMethods::from([("x".into(), "npm".into())])
    }

    #[test]
    fn text_outside_the_markers_is_kept() {
        let old = format!("before\n{}stale\n{}after\n", SECTION.start, SECTION.end);
        let new = replace_table(&old, &agents(), &installed()).unwrap();
        assert!(new.starts_with("before\n") && new.ends_with("after\n") && !new.contains("stale"), "{new}");
        assert!(new.contains("| x | x-acp 1 | npm | yes |"), "{new}");
        assert_eq!(replace_table(&new, &agents(), &installed()).unwrap(), new);
    }

    #[test]
    fn missing_markers_and_features_are_errors() {
        assert!(replace_table("nothing", &agents(), &installed()).is_err());
        let old = format!("{}{}", SECTION.start, SECTION.end);
        let poor = r#"{"x":{"program":{"name":"x","version":"1"},"features":{}}}"#;
        let error = replace_table(&old, poor, &installed()).unwrap_err().to_string();
        assert!(error.contains("x has no `text`"), "{error}");
        let error = replace_table(&old, &agents(), &InstallMethods::new()).unwrap_err().to_string();
        assert!(error.contains("no agent `x`"), "{error}");
    }
}
