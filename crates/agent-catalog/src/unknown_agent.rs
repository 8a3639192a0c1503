//! An agent that a client asked for and that does not exist.

use protocol::AgentName;

use crate::Catalog;

/// How many letters may be wrong in a name for which another is suggested.
const MISTAKES_MAX: usize = 2;

/// There is no agent of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no agent `{name}`{}; run `tombolo agents list` to see which exist", suggestion(.similar.as_ref()))]
pub struct UnknownAgent {
    name: AgentName,
    /// The agent that the client may have meant.
    similar: Option<AgentName>,
}

impl UnknownAgent {
    /// There is no agent `name` in `catalog`.
    pub fn new(name: &AgentName, catalog: &Catalog) -> Self {
        Self { name: name.clone(), similar: similar(name, catalog.iter().map(|agent| &agent.id)).cloned() }
    }
}

fn suggestion(similar: Option<&AgentName>) -> String {
    similar.map(|similar| format!("; did you mean `{similar}`?")).unwrap_or_default()
}

/// The name with the fewest mistakes. A short name is similar to too many others.
fn similar<'a>(name: &AgentName, all: impl Iterator<Item = &'a AgentName>) -> Option<&'a AgentName> {
    let mistakes = |other: &AgentName| strsim::damerau_levenshtein(name.as_str(), other.as_str());
    let most = MISTAKES_MAX.min(name.as_str().chars().count() / 2);
    all.map(|other| (mistakes(other), other))
        .filter(|(mistakes, _)| *mistakes <= most)
        .min_by_key(|(mistakes, _)| *mistakes)
        .map(|(_, other)| other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_finds_its_agent() {
        let all: Vec<AgentName> = ["amp", "claude", "codex", "mock"].map(|name| name.parse().unwrap()).into();
        let check = |name: &str, expected: Option<&str>| {
            let name: AgentName = name.parse().unwrap();
            assert_eq!(similar(&name, all.iter()).map(AgentName::as_str), expected, "{name}");
        };
        check("cluade", Some("claude"));
        check("codexx", Some("codex"));
        check("ap", Some("amp"));
        check("x", None);
        check("somebody", None);
    }
}
