//! What the tools of MCP servers are called here.

use std::collections::{BTreeMap, HashMap};

use protocol::relay::ToolName;

use super::config::{Config, ConfigError, Selected, senseless};

/// A tool of an MCP server that is lent, with the name that it has here.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) name: ToolName,
    pub(crate) selected: Selected,
}

/// The names of all selected tools, by server. Which names clash is known before any server is asked, so a tool is called the same
/// whatever comes up first: each of those that would have one name gets that of its server before its own.
///
/// # Errors
/// If names clash even so, or that of a tool cannot be made one.
pub(crate) fn of(config: &Config) -> Result<BTreeMap<String, Vec<Named>>, ConfigError> {
    let mut uses: HashMap<String, usize> = HashMap::new();
    for tool in &config.tools {
        let used = uses.entry(tool.name.to_string()).or_default();
        *used += 1;
        if *used > 1 {
            return Err(senseless(tool.name.as_str(), "two tools have this name"));
        }
    }
    let wanted: Vec<_> = config
        .servers
        .iter()
        .flat_map(|(server, of)| {
            of.tools.iter().map(move |selection| {
                let selected = selection.read();
                let name = selected.alias.as_ref().map_or_else(|| plain(&selected.name), ToString::to_string);
                (server, selected, name)
            })
        })
        .collect();
    for (_, _, name) in &wanted {
        *uses.entry(name.clone()).or_default() += 1;
    }
    let mut named: BTreeMap<String, Vec<Named>> = BTreeMap::new();
    let mut taken: HashMap<ToolName, &str> =
        config.tools.iter().map(|tool| (tool.name.clone(), "")).collect();
    for (server, selected, name) in &wanted {
        let clashes = uses.get(name).is_some_and(|uses| *uses > 1);
        let name = if clashes { format!("{server}_{name}") } else { name.clone() };
        let name: ToolName = name.parse().map_err(|error| senseless(&selected.name, &format!("{error}")))?;
        if taken.insert(name.clone(), server).is_some() {
            return Err(senseless(name.as_str(), "two tools have this name; rename one of them with `as`"));
        }
        if clashes {
            tracing::info!(
                server,
                tool = selected.name,
                name = name.as_str(),
                "prefixed a tool with its server's name, because another server has a tool of the same name"
            );
        }
        named.entry((*server).clone()).or_default().push(Named { name, selected: selected.clone() });
    }
    Ok(named)
}

/// The name of a tool of an MCP server, which may hold more than ours can.
fn plain(name: &str) -> String {
    let fits = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    name.chars().map(|char| if fits(char) { char } else { '_' }).collect()
}
