//! Configuration: read once, in `main`, into parsed values that are handed down by field.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt, io,
    net::SocketAddr,
    num::NonZeroU64,
    path::{Path, PathBuf},
    time::Duration,
};

use agents::{UserAgent, install};
use protocol::AgentName;
use serde::Deserialize;
use server::{CorsConfig, InvalidCors};

use crate::Join;

/// The shortest token that is worth having.
const TOKEN_BYTES_MIN: usize = 8;

/// How a daemon runs.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where it listens.
    pub address: SocketAddr,
    /// Who may use it.
    pub access: Access,
    /// Whether an open daemon may listen on more than the loopback.
    pub open_to_the_network: bool,
    /// Names in `Host` that are allowed besides those of the loopback.
    pub hosts: Vec<String>,
    /// Which web pages may use it.
    pub cors: CorsConfig,
    /// The directory that `/v1/fs` is confined to; the whole filesystem if none.
    pub fs_root: Option<PathBuf>,
    /// Where the daemon keeps its own files.
    pub data_dir: PathBuf,
    /// The program that holds the mock agent: the daemon's own.
    pub own_program: PathBuf,
    /// The directory that relative paths start from.
    pub current_dir: PathBuf,
    /// Variables of the daemon that its children do not inherit.
    pub env_remove: Vec<OsString>,
    /// Agents that the user defined.
    pub agents: BTreeMap<AgentName, UserAgent>,
    /// How agents are installed.
    pub install: install::Config,
    /// How much each instance's stream keeps, in events.
    pub events_max: NonZeroU64,
    /// How much each instance's stream keeps, in bytes.
    pub events_bytes_max: NonZeroU64,
    /// How long an agent may take to end by itself before it is killed.
    pub grace: Duration,
    /// How long a request may wait for the agent, at most and by default.
    pub timeout_max: Duration,
    /// How long a person may take to answer what an agent asks; for ever if none.
    pub wait_timeout: Option<Duration>,
    /// How long the agent of a session stays that has nothing to do, if it can go on later.
    pub session_idle: Duration,
    /// How long a connection may be silent or refuse to read before it is closed.
    pub stall: Duration,
    /// The hub that it makes itself known to.
    pub join: Option<Join>,
}

/// Who may use the daemon.
#[derive(Debug, Clone)]
pub enum Access {
    /// Whoever has the token.
    Token(Token),
    /// Everybody who can reach it.
    Open,
}

/// A bearer token. It prints as `***`.
#[derive(Clone)]
pub struct Token(Box<str>);

impl Token {
    /// Takes a token as given, without the white space around it.
    pub fn new(text: &str) -> Result<Self, InvalidConfig> {
        let text = text.trim();
        if text.len() < TOKEN_BYTES_MIN || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InvalidConfig::Token);
        }
        Ok(Self(text.into()))
    }

    /// The token itself, for comparing.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfigFile {
    /// `[agents.NAME]`: agents that the user defines.
    #[serde(default)]
    pub agents: BTreeMap<AgentName, UserAgent>,
    /// `[install]`: how agents are installed.
    #[serde(default)]
    pub install: InstallSection,
}

/// `[install]` in the configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstallSection {
    /// As `--mirror`; used after those of the command line.
    #[serde(default)]
    pub mirrors: Vec<String>,
    /// As `--acp-registry`, which is stronger.
    pub acp_registry: Option<String>,
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidConfig {
    /// The file cannot be read.
    #[error("could not read the configuration file `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not what it should be.
    #[error("the configuration file `{}` is not valid: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and why.
        message: String,
    },
    /// The token is of no use.
    #[error("a token is at least {TOKEN_BYTES_MIN} printable ASCII characters without spaces")]
    Token,
    /// Anybody on the network could use the daemon.
    #[error("refusing to listen on {0} without a token: set one, or say --no-token if this is meant")]
    OpenToTheNetwork(SocketAddr),
    /// A CORS value cannot be put into a header.
    #[error("`{0}` cannot be used for CORS")]
    Cors(String),
}

impl From<InvalidCors> for InvalidConfig {
    fn from(InvalidCors(value): InvalidCors) -> Self {
        Self::Cors(value)
    }
}

impl ConfigFile {
    /// Reads the file at `path`.
    pub fn read(path: &Path) -> Result<Self, InvalidConfig> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| InvalidConfig::Unreadable { path: path.to_path_buf(), source })?;
        let invalid = |message| InvalidConfig::Syntax { path: path.to_path_buf(), message };
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
        let error = ConfigFile::read(&path).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    /// daemon-8: a file that is wrong says where and why.
    #[test]
    fn a_wrong_file_says_what_is_wrong() {
        check("[agents.x]\ncommand = []", "agents.x.command must name a program");
        check("[agents.x]\ncommand = [\"a\"]\nprotocol = \"smtp\"", "smtp");
        check("[agents.\"Not A Name\"]\ncommand = [\"a\"]", "agent must be");
        check("[agent.x]\n", "unknown field `agent`");
        check("[agents.x]\ncommand = \"a\"", "line 2");
        check("a = [", "line 1");
    }

    #[test]
    fn a_token_does_not_print_itself() {
        let token = Token::new(" secret-token\n").unwrap();
        assert_eq!(token.reveal(), "secret-token");
        assert_eq!(format!("{token:?}"), "***");
        assert!(Token::new("short").is_err() && Token::new("with a space").is_err());
    }
}
