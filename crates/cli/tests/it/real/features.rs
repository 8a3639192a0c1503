//! What the tests show of each agent, kept in `docs/agents.json` for people and for the README.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use serde_json::{Map, Value, json};

use super::{agent, agents};

/// Compares what was shown with the file, or writes it there.
pub(super) fn shown(agent: &str, feature: &str, how: &str) {
    put(agent, &["features", feature], &json!(how));
}

/// The same for the name and version that an agent says it has.
pub(super) fn program(agent: &str, info: &Value) {
    put(agent, &["program"], &json!({ "name": info["name"], "version": info["version"] }));
}

fn put(agent: &str, place: &[&str], value: &Value) {
    // Tests run side by side, in processes of their own.
    let lock =
        File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("agents.lock")).expect("make the lock");
    lock.lock().expect("take the lock");
    let mut table = read();
    let mut cell = &mut table[agent];
    for key in place {
        cell = &mut cell[*key];
    }
    if writing() {
        *cell = value.clone();
        let text = serde_json::to_string_pretty(&table).expect("JSON");
        fs::write(file(), text + "\n").expect("write the table");
        return;
    }
    let place = place.join(".");
    assert_eq!(
        cell, value,
        "{agent}.{place} is not as in docs/agents.json: if that is right, run with TOMBOLO_WRITE_FEATURES=1"
    );
}

fn read() -> Value {
    let text = fs::read_to_string(file()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_else(|_| Value::Object(Map::new()))
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.json")
}

#[expect(clippy::disallowed_methods, reason = "tests have no `main` of ours")]
fn writing() -> bool {
    std::env::var_os("TOMBOLO_WRITE_FEATURES").is_some_and(|value| value == "1")
}

/// What is no longer shown is no longer told.
#[test]
fn the_table_tells_what_the_suite_shows_and_nothing_else() {
    let keys = |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let table = read();
    assert_eq!(keys(&table), agent::ALL.map(|agent| agent.name));
    let mut features = agents::FEATURES.to_vec();
    features.sort_unstable();
    for (agent, row) in table.as_object().unwrap() {
        assert_eq!(keys(&row["features"]), features, "{agent}");
    }
}
