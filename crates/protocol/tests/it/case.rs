//! The examples of what a session comes to, `fixtures/session/*.json`: shared by the test that reads them and the
//! example that writes them.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use protocol::{Event, SessionProjection, sessions::SessionSnapshot};
use serde::{Deserialize, Serialize};

/// So many snapshots make a file that can still be read.
const FEW: usize = 24;

/// One example.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// What it shows.
    pub(crate) about: String,
    /// What there is before.
    pub(crate) start: SessionSnapshot,
    /// What happens.
    pub(crate) events: Vec<Told>,
    /// What it has come to, here and there.
    pub(crate) states: Vec<State>,
}

/// An event, where it is in the session, and when it was written down.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Told {
    /// Left out where those who observe a session do not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seq: Option<u64>,
    pub(crate) time: Timestamp,
    pub(crate) event: Event,
}

/// What a session has come to.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    /// After so many events.
    pub(crate) after: usize,
    pub(crate) snapshot: SessionSnapshot,
}

/// The files.
pub(crate) fn files() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/session");
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "json")).collect()
}

impl Case {
    pub(crate) fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", file.display()))
    }

    /// What the projection comes to: after each event if they are few, otherwise after a third of them, after two
    /// thirds, and in the end.
    pub(crate) fn concluded(&self) -> Vec<State> {
        let all = self.events.len();
        let mut projection = SessionProjection::new(self.start.clone());
        let mut states = Vec::new();
        for (after, told) in (1..).zip(&self.events) {
            projection.apply(&told.event, told.time);
            if all <= FEW || [all / 3, 2 * all / 3, all].contains(&after) {
                states.push(State { after, snapshot: projection.snapshot() });
            }
        }
        states
    }

    /// The text of the file: a line for each event, so that a change of it can be read.
    pub(crate) fn written(&self) -> String {
        let events = lines(&self.events);
        let states = lines(&self.states);
        let (about, start) = (line(&self.about), line(&self.start));
        format!("{{\n\"about\":{about},\n\"start\":{start},\n\"events\":{events},\n\"states\":{states}\n}}\n")
    }
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

fn lines(values: &[impl Serialize]) -> String {
    format!("[\n{}\n]", values.iter().map(line).collect::<Vec<_>>().join(",\n"))
}
