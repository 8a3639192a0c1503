//! What the tests show of each agent in sessions: `docs/sessions.json`.

use serde_json::json;

use super::{agent, agents};
use crate::table::Table;

const TABLE: Table = Table("sessions.json");

/// Compares what was shown with the file, or writes it there.
pub(super) fn shown(agent: &str, feature: &str, how: &str) {
    TABLE.put(agent, &["features", feature], &json!(how));
}

/// sessions-17: the table tells what the suite shows and nothing else.
#[test]
fn the_table_tells_what_the_suite_shows_and_nothing_else() {
    TABLE.check(&agent::ALL.map(|agent| agent.name), agents::FEATURES);
}
