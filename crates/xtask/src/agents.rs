//! The README's table of agents, made from what the tests showed: `docs/agents.json`.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use serde::Deserialize;

const START: &str = "<!-- agents: written by `cargo xtask codegen` -->\n";
const END: &str = "<!-- /agents -->\n";

/// The columns: a heading, and the test of the suite whose words fill it.
const COLUMNS: &[(&str, &str)] = &[
    ("says", "text"),
    ("permissions", "permission_allowed"),
    ("a denial", "permission_denied"),
    ("cancel", "cancel"),
    ("load", "load"),
    ("resume", "resume"),
    ("mode", "mode"),
    ("model", "model"),
    ("a failing model is told", "model_error"),
    ("nothing left", "nothing_left"),
];

/// What the tests showed of one agent.
#[derive(Deserialize)]
struct Agent {
    program: Program,
    features: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Program {
    name: String,
    version: String,
}

/// How each agent comes to a machine. The catalog is to say so; what it does not know is not a column.
pub(crate) type Installed = BTreeMap<String, String>;

/// The README with its table as `agents` says.
pub(crate) fn readme(readme: &str, agents: &str, installed: &Installed) -> anyhow::Result<String> {
    let agents: BTreeMap<String, Agent> = serde_json::from_str(agents).context("docs/agents.json")?;
    let Some((before, rest)) = readme.split_once(START) else {
        bail!("README.md has no line `{}`", START.trim())
    };
    let Some((_, after)) = rest.split_once(END) else { bail!("README.md has no line `{}`", END.trim()) };
    Ok(format!("{before}{START}{}{END}{after}", table(&agents, installed)?))
}

fn table(agents: &BTreeMap<String, Agent>, installed: &Installed) -> anyhow::Result<String> {
    let mut heads = vec!["agent", "shown with"];
    if !installed.is_empty() {
        heads.push("installed");
    }
    heads.extend(COLUMNS.iter().map(|(head, _)| *head));
    let mut lines = vec![line(&heads), line(&vec!["---"; heads.len()])];
    for (name, agent) in agents {
        let shown = format!("{} {}", agent.program.name, agent.program.version);
        let mut cells = vec![name.as_str(), &shown];
        if !installed.is_empty() {
            cells.push(installed.get(name).map_or("by hand", String::as_str));
        }
        for (_, feature) in COLUMNS {
            let words = agent.features.get(*feature);
            cells.push(words.with_context(|| format!("docs/agents.json: {name} has no `{feature}`"))?);
        }
        lines.push(line(&cells));
    }
    Ok(lines.concat())
}

fn line(cells: &[&str]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents() -> String {
        let features: BTreeMap<_, _> = COLUMNS.iter().map(|(_, feature)| (feature, "yes")).collect();
        serde_json::json!({ "x": { "program": { "name": "x-acp", "version": "1" }, "features": features } })
            .to_string()
    }

    #[test]
    fn only_what_stands_between_the_marks_is_written() {
        let old = format!("before\n{START}stale\n{END}after\n");
        let new = readme(&old, &agents(), &Installed::new()).unwrap();
        assert!(new.starts_with("before\n") && new.ends_with("after\n") && !new.contains("stale"), "{new}");
        assert!(new.contains("| x | x-acp 1 | yes |") && !new.contains("installed"), "{new}");
        assert_eq!(readme(&new, &agents(), &Installed::new()).unwrap(), new);
        let installed = Installed::from([("x".into(), "npm".into())]);
        assert!(readme(&old, &agents(), &installed).unwrap().contains("| x | x-acp 1 | npm | yes |"));
    }

    #[test]
    fn missing_marks_and_features_are_told() {
        assert!(readme("nothing", &agents(), &Installed::new()).is_err());
        let old = format!("{START}{END}");
        let poor = r#"{"x":{"program":{"name":"x","version":"1"},"features":{}}}"#;
        let error = readme(&old, poor, &Installed::new()).unwrap_err().to_string();
        assert!(error.contains("x has no `text`"), "{error}");
    }
}
