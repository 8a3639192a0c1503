//! What the mock keeps of a session, so that another process can go on with it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// The directory of all that is kept, in that of the session.
const DIRECTORY: &str = ".mock-agent";

/// One session.
#[derive(Debug, Default)]
pub(super) struct Memory {
    file: PathBuf,
    /// The names of the MCP servers that it was given.
    pub(super) servers: Vec<String>,
}

impl Memory {
    /// That of a session in `directory`.
    pub(super) fn new(directory: &str, session: &str) -> Self {
        // A name that is a path would lead elsewhere.
        let name = Path::new(session).file_name().unwrap_or_default();
        Self { file: Path::new(directory).join(DIRECTORY).join(name), servers: Vec::new() }
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
