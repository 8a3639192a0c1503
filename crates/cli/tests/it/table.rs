//! The results of the agent tests, stored in a JSON file of `docs` from which `docs/agents.md` is written.
//!
//! A run compares with the file, and `TOMBOLO_WRITE_FEATURES=1` writes it anew.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

/// A file of what was shown, by agent and feature.
pub(crate) struct Table(pub(crate) &'static str);

impl Table {
    /// Compares what was shown with the file, or writes it there.
    pub(crate) fn put(&self, agent: &str, place: &[&str], value: &Value) {
        // Tests run side by side, in processes of their own.
        let lock = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.lock", self.0));
        let lock = File::create(lock).expect("make the lock");
        lock.lock().expect("take the lock");
        let mut table = self.read();
        let mut cell = &mut table[agent];
        for key in place {
            cell = &mut cell[*key];
        }
        if writing() {
            *cell = value.clone();
            let text = serde_json::to_string_pretty(&table).expect("JSON");
            fs::write(self.file(), text + "\n").expect("write the table");
            return;
        }
        let place = place.join(".");
        assert_eq!(
            cell, value,
            "{agent}.{place} is not as in docs/{}: if that is right, run with TOMBOLO_WRITE_FEATURES=1",
            self.0
        );
    }

    /// What is no longer shown is no longer told: the file holds these agents and features, and nothing else.
    pub(crate) fn check(&self, agents: &[&str], features: &[&str]) {
        let keys = |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
        let table = self.read();
        assert_eq!(keys(&table), agents);
        let mut features = features.to_vec();
        features.sort_unstable();
        for (agent, row) in table.as_object().unwrap() {
            assert_eq!(keys(&row["features"]), features, "{agent}");
        }
    }

    pub(crate) fn read(&self) -> Value {
        let text = fs::read_to_string(self.file()).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_else(|_| Value::Object(Map::new()))
    }

    fn file(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(self.0)
    }
}

#[expect(clippy::disallowed_methods, reason = "tests have no `main` of ours")]
fn writing() -> bool {
    std::env::var_os("TOMBOLO_WRITE_FEATURES").is_some_and(|value| value == "1")
}
