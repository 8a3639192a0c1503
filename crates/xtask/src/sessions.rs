//! Writes the feature matrix of sessions in `docs/agents.md` from the test results in `docs/sessions.json`.

use std::collections::BTreeMap;

use anyhow::Context;
use serde::Deserialize;

use crate::generated_section::{GeneratedSection, table_row};

const SECTION: GeneratedSection = GeneratedSection {
    start: "<!-- sessions: written by `cargo xtask codegen` -->\n",
    end: "<!-- /sessions -->\n",
};

/// The test results of one agent.
#[derive(Deserialize)]
struct SessionFeatures {
    features: BTreeMap<String, String>,
}

/// Returns `document` with its matrix replaced by one made from `sessions`: a row per feature, a column per agent.
pub(crate) fn replace_matrix(document: &str, sessions: &str) -> anyhow::Result<String> {
    let agents: BTreeMap<String, SessionFeatures> =
        serde_json::from_str(sessions).context("docs/sessions.json")?;
    SECTION.replace(document, &matrix(&agents)?)
}

fn matrix(agents: &BTreeMap<String, SessionFeatures>) -> anyhow::Result<String> {
    let Some(first) = agents.values().next() else { return Ok(String::new()) };
    let heads: Vec<_> = std::iter::once("").chain(agents.keys().map(String::as_str)).collect();
    let mut lines = vec![table_row(&heads), table_row(&vec!["---"; heads.len()])];
    for feature in first.features.keys() {
        let title = feature.replace('_', " ");
        let mut cells = vec![title.as_str()];
        for (name, agent) in agents {
            let words = agent.features.get(feature);
            cells.push(words.with_context(|| format!("docs/sessions.json: {name} has no `{feature}`"))?);
        }
        lines.push(table_row(&cells));
    }
    Ok(lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSIONS: &str = r#"{"a":{"features":{"text":"yes","plan_approved":"no"}},"b":{"features":{"text":"maybe","plan_approved":"yes"}}}"#;

    #[test]
    fn each_feature_is_a_row_and_each_agent_a_column() {
        let old = format!("before\n{}stale\n{}after\n", SECTION.start, SECTION.end);
        let new = replace_matrix(&old, SESSIONS).unwrap();
        assert!(new.contains(
            "|  | a | b |\n| --- | --- | --- |\n| plan approved | no | yes |\n| text | yes | maybe |\n"
        ));
        assert!(new.starts_with("before\n") && new.ends_with("after\n") && !new.contains("stale"), "{new}");
        assert_eq!(replace_matrix(&new, SESSIONS).unwrap(), new);
    }

    #[test]
    fn missing_markers_and_features_are_errors() {
        assert!(replace_matrix("nothing", SESSIONS).is_err());
        let poor = r#"{"a":{"features":{"text":"yes"}},"b":{"features":{}}}"#;
        let error =
            replace_matrix(&format!("{}{}", SECTION.start, SECTION.end), poor).unwrap_err().to_string();
        assert!(error.contains("b has no `text`"), "{error}");
    }
}
