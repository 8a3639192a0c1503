//! The configuration file that the daemon and `tombolo agents` read: user-defined agents and installation sources.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use protocol::AgentName;
use serde::Deserialize;

use crate::UserAgent;

/// The configuration file, as TOML.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfigFile {
    /// `[agents.NAME]`: agents that the user defines.
    #[serde(default)]
    pub agents: BTreeMap<AgentName, UserAgent>,
    /// `[install]`: where agents are installed from.
    #[serde(default)]
    pub install: InstallSection,
}

/// `[install]` in the configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstallSection {
    /// Like `--mirror`. Tried after the mirrors of the command line.
    #[serde(default)]
    pub mirrors: Vec<String>,
    /// Like `--acp-registry`, which takes precedence.
    pub acp_registry: Option<String>,
}

/// The configuration file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidConfigFile {
    /// The file cannot be read.
    #[error("could not read the configuration file `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The content of the file is invalid.
    #[error("the configuration file `{}` is invalid: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The position and the cause.
        message: String,
    },
}

impl ConfigFile {
    /// Reads the file at `path`, or returns an empty configuration if there is no path.
    pub fn read(path: Option<&Path>) -> Result<Self, InvalidConfigFile> {
        let Some(path) = path else { return Ok(Self::default()) };
        let text = std::fs::read_to_string(path)
            .map_err(|source| InvalidConfigFile::Unreadable { path: path.to_path_buf(), source })?;
        let invalid = |message| InvalidConfigFile::Syntax { path: path.to_path_buf(), message };
        let file: Self = toml::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        if let Some((name, _)) = file.agents.iter().find(|(_, agent)| agent.command.is_empty()) {
            return Err(invalid(format!("agents.{name}.command must name a program")));
        }
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        let error = ConfigFile::read(Some(&path)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    /// daemon-8: the error for an invalid file names the position and the cause.
    #[test]
    fn an_invalid_file_is_rejected_with_position_and_cause() {
        check("[agents.x]\ncommand = []", "agents.x.command must name a program");
        check("[agents.x]\ncommand = [\"a\"]\nprotocol = \"smtp\"", "smtp");
        check("[agents.\"Not A Name\"]\ncommand = [\"a\"]", "agent must be");
        check("[agent.x]\n", "unknown field `agent`");
        check("[agents.x]\ncommand = \"a\"", "line 2");
        check("a = [", "line 1");
    }
}
