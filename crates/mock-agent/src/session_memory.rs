//! The state of a session. The remembered text is stored in a file, so that another process can resume the session.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::Value;

/// The directory of the remembered texts, below the directory of the session.
const DIRECTORY: &str = ".mock-agent";

/// The maximum number of updates that `session/load` replays. A prompt such as `/updates` can produce any number.
const REPLAYED_UPDATES_MAX: usize = 1000;

/// The maximum text length of an update that `session/load` replays.
const REPLAYED_BYTES_MAX: usize = 4 << 10;

/// The memory of one session.
#[derive(Debug, Default)]
pub(super) struct SessionMemory {
    file: PathBuf,
    /// The names of the MCP servers that the client passed.
    pub(super) servers: Vec<String>,
    /// The updates that this process sent, for a client that loads the session.
    updates: Vec<Value>,
}

impl SessionMemory {
    /// Creates the memory of a session that works in `directory`.
    pub(super) fn new(directory: &str, session: &str) -> Self {
        // A session id that is a path must not select a file elsewhere.
        let name = Path::new(session).file_name().unwrap_or_default();
        Self {
            file: Path::new(directory).join(DIRECTORY).join(name),
            servers: Vec::new(),
            updates: Vec::new(),
        }
    }

    /// Records an update of the session.
    pub(super) fn record(&mut self, update: &Value) {
        if self.updates.len() < REPLAYED_UPDATES_MAX
            && update["content"]["text"].as_str().map_or(0, str::len) <= REPLAYED_BYTES_MAX
        {
            self.updates.push(update.clone());
        }
    }

    /// Takes the recorded updates, which the caller sends again.
    pub(super) fn take_updates(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.updates)
    }

    /// Stores a text in place of the previous one.
    pub(super) fn remember(&self, text: &str) -> io::Result<()> {
        if let Some(directory) = self.file.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(&self.file, text)
    }

    /// Returns the stored text.
    pub(super) fn recall(&self) -> String {
        fs::read_to_string(&self.file).unwrap_or_default()
    }
}

/// Returns a session id that no session of another process has.
pub(super) fn session_id(number: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("mock-{number}-{:x}-{:x}", now.as_micros(), std::process::id())
}
