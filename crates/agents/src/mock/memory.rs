//! What the mock keeps of a session, so that another process can go on with it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::Value;

/// The directory of all that is kept, in that of the session.
const DIRECTORY: &str = ".mock-agent";

/// How many updates of a session are told again, and how long each may be: `/updates` writes as many and as long ones as it is told.
const TOLD_MAX: usize = 1000;
const TOLD_BYTES_MAX: usize = 4 << 10;

/// One session.
#[derive(Debug, Default)]
pub(super) struct Memory {
    file: PathBuf,
    /// The names of the MCP servers that it was given.
    pub(super) servers: Vec<String>,
    /// What was said in this process, for a client that loads the session.
    told: Vec<Value>,
}

impl Memory {
    /// That of a session in `directory`.
    pub(super) fn new(directory: &str, session: &str) -> Self {
        // A name that is a path would lead elsewhere.
        let name = Path::new(session).file_name().unwrap_or_default();
        Self { file: Path::new(directory).join(DIRECTORY).join(name), servers: Vec::new(), told: Vec::new() }
    }

    /// Notes an update of the session.
    pub(super) fn tell(&mut self, update: &Value) {
        if self.told.len() < TOLD_MAX
            && update["content"]["text"].as_str().map_or(0, str::len) <= TOLD_BYTES_MAX
        {
            self.told.push(update.clone());
        }
    }

    /// The updates of the session, to be told again.
    pub(super) fn take_told(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.told)
    }

    /// Keeps a text in place of the last one.
    pub(super) fn keep(&self, text: &str) -> io::Result<()> {
        if let Some(directory) = self.file.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(&self.file, text)
    }

    /// What was kept.
    pub(super) fn recall(&self) -> String {
        fs::read_to_string(&self.file).unwrap_or_default()
    }
}

/// A name that no session of another process has.
pub(super) fn name(number: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("mock-{number}-{:x}-{:x}", now.as_micros(), std::process::id())
}
