//! What the tests show of each agent in sessions: `docs/sessions.json`.

use serde_json::{Value, json};
use testkit::TestDaemon;

use super::{agent, agents};
use crate::{TOMBOLO, table::Table};

const TABLE: Table = Table("sessions.json");

/// Compares what was shown with the file, or writes it there.
pub(super) fn shown(agent: &str, feature: &str, how: impl AsRef<str>) {
    TABLE.put(agent, &["features", feature], &json!(how.as_ref()));
}

/// sessions-17: the table tells what the suite shows and nothing else.
#[test]
fn the_table_tells_what_the_suite_shows_and_nothing_else() {
    TABLE.check(&agent::ALL.map(|agent| agent.name), agents::FEATURES);
}

/// daemon-5, sessions-17: the capabilities in the list of agents are what the suite shows.
#[tokio::test]
async fn capabilities_are_what_the_suite_shows() {
    let daemon = TestDaemon::start(TOMBOLO);
    let agents: Value = daemon.get("/v1/agents").await.json().await.unwrap();
    let shown = TABLE.read();
    for agent in agent::ALL {
        let listed =
            agents["items"].as_array().unwrap().iter().find(|listed| listed["id"] == agent.name).unwrap();
        let is = |feature: &str, how: &str| shown[agent.name]["features"][feature] == how;
        let expected = json!({
            "permissions": is("permission_once", "asks each time"),
            "questions": is("question_answered", "yes"),
            "plans": is("plan_approved", "then it writes"),
            "steering": !is("steer", "unsupported"),
            "resume": is("process_death", "yes"),
            "mcp": is("mcp", "yes"),
        });
        for (capability, expected) in expected.as_object().unwrap() {
            assert_eq!(&listed["capabilities"][capability], expected, "{}: {capability}", agent.name);
        }
    }
}
