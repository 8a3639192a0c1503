//! What the tests show of each agent over ACP: `docs/agents.json`.

use serde_json::{Value, json};

use super::{agent, agents};
use crate::table::Table;

const TABLE: Table = Table("agents.json");

/// Compares what was shown with the file, or writes it there.
pub(super) fn shown(agent: &str, feature: &str, how: &str) {
    TABLE.put(agent, &["features", feature], &json!(how));
}

/// The same for the name and version that an agent says it has.
pub(super) fn program(agent: &str, info: &Value) {
    TABLE.put(agent, &["program"], &json!({ "name": info["name"], "version": info["version"] }));
}

#[test]
fn the_table_tells_what_the_suite_shows_and_nothing_else() {
    TABLE.check(&agent::ALL.map(|agent| agent.name), agents::FEATURES);
}
