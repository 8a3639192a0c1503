//! Writes the table of credentials in `docs/agents.md` from the test results in `docs/credentials.json`.

use std::collections::BTreeMap;

use anyhow::Context;

use crate::generated_section::{GeneratedSection, table_row};

const SECTION: GeneratedSection = GeneratedSection {
    start: "<!-- credentials: written by `cargo xtask codegen` -->\n",
    end: "<!-- /credentials -->\n",
};

/// The header in which the model received each credential, or what the agent said instead; by agent.
type SentCredentials = BTreeMap<String, BTreeMap<String, String>>;

/// Returns `document` with its table of credentials replaced by one made from `credentials`.
pub(crate) fn replace_table(document: &str, credentials: &str) -> anyhow::Result<String> {
    let agents: SentCredentials = serde_json::from_str(credentials).context("docs/credentials.json")?;
    let mut lines = vec![table_row(&["agent", "credential", "sent to the model as"]), table_row(&["---"; 3])];
    for (agent, sources) in &agents {
        for (source, sent) in sources {
            lines.push(table_row(&[agent, &title(source), sent]));
        }
    }
    SECTION.replace(document, &lines.concat())
}

/// A source as people write it: files are named below the home, and `~1` stands for a slash in a JSON Pointer.
fn title(source: &str) -> String {
    let name = source.replace("~1", "/");
    if name.starts_with('.') { format!("`~/{name}`") } else { format!("`{name}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_credential_is_a_row() {
        let document = format!("a\n{}old\n{}b\n", SECTION.start, SECTION.end);
        let sources = r#"{"x":{".x/key.json/a@b:~1~1c":"x-api-key","X_KEY":"Authorization"}}"#;
        let table = "| x | `~/.x/key.json/a@b://c` | x-api-key |\n| x | `X_KEY` | Authorization |\n";
        assert!(replace_table(&document, sources).unwrap().contains(table));
    }
}
